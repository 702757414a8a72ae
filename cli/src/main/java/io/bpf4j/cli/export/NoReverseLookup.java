package io.bpf4j.cli.export;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.net.spi.InetAddressResolver;
import java.net.spi.InetAddressResolverProvider;
import java.util.stream.Stream;

/**
 * Asks nobody for the name of an address. The JDK's server wants the name of the machine of each reader, with HTTPS, before
 * it reads anything; where DNS does not answer, each connection would wait for as long as the resolver does. Names are
 * looked up as always.
 *
 * <p>Found by the JDK as a service. Tested by {@code NoReverseLookupTest}.
 */
public final class NoReverseLookup extends InetAddressResolverProvider {
    @Override
    public InetAddressResolver get(Configuration configuration) {
        InetAddressResolver system = configuration.builtinResolver();
        return new InetAddressResolver() {
            @Override
            public Stream<InetAddress> lookupByName(String host, LookupPolicy policy) throws UnknownHostException {
                return system.lookupByName(host, policy);
            }

            @Override
            public String lookupByAddress(byte[] address) throws UnknownHostException {
                throw new UnknownHostException("bpf4j looks up no names of addresses");
            }
        };
    }

    @Override
    public String name() {
        return "bpf4j";
    }
}
