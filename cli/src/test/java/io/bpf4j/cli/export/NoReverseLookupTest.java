package io.bpf4j.cli.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

class NoReverseLookupTest {
    /** Also of an address that /etc/hosts has. */
    @Test
    void anAddressHasNoName() throws UnknownHostException {
        assertThat(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}).getHostName())
                .isEqualTo("127.0.0.1");
    }

    @Test
    void aNameHasAnAddress() throws UnknownHostException {
        assertThat(InetAddress.getByName("localhost").isLoopbackAddress()).isTrue();
    }
}
