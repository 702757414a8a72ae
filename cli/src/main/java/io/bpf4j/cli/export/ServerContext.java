package io.bpf4j.cli.export;

import java.security.SecureRandom;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLContextSpi;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * A context of TLS whose keys and authorities can be exchanged: a connection has those of its beginning, and a new context
 * remembers no session of the one before, so that no reader comes by a session who would be refused now. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code ServerAccessTest}.
 */
final class ServerContext extends SSLContext {
    private final Current current;

    private ServerContext(Current current) {
        super(current, current.keyed.context().getProvider(), "TLS");
        this.current = current;
    }

    static ServerContext of(SSLContext context) {
        return new ServerContext(new Current(new Keyed(context, 0)));
    }

    /** From now on connections have this context. One thread at a time may call it. */
    void replace(SSLContext next) {
        current.keyed = new Keyed(next, current.keyed.number() + 1);
    }

    /** @param number of the contexts before */
    private record Keyed(SSLContext context, int number) {}

    private static final class Current extends SSLContextSpi {
        private volatile Keyed keyed;

        Current(Keyed keyed) {
            this.keyed = keyed;
        }

        @Override
        protected SSLEngine engineCreateSSLEngine() {
            Keyed now = keyed;
            return new ServerEngine(now.context().createSSLEngine(), () -> now.number() == keyed.number());
        }

        /** The server asks for one with the name of the reader's machine, which no reader's certificate is compared with. */
        @Override
        protected SSLEngine engineCreateSSLEngine(String host, int port) {
            return engineCreateSSLEngine();
        }

        @Override
        protected SSLParameters engineGetDefaultSSLParameters() {
            return keyed.context().getDefaultSSLParameters();
        }

        @Override
        protected SSLParameters engineGetSupportedSSLParameters() {
            return keyed.context().getSupportedSSLParameters();
        }

        @Override
        protected SSLSessionContext engineGetServerSessionContext() {
            return keyed.context().getServerSessionContext();
        }

        @Override
        protected SSLSessionContext engineGetClientSessionContext() {
            return keyed.context().getClientSessionContext();
        }

        @Override
        protected void engineInit(
                KeyManager @Nullable [] keys, TrustManager @Nullable [] authorities, @Nullable SecureRandom random) {
            throw new UnsupportedOperationException("it is made with its keys");
        }

        @Override
        protected SSLSocketFactory engineGetSocketFactory() {
            throw new UnsupportedOperationException("for servers of the JDK, which use engines");
        }

        @Override
        protected SSLServerSocketFactory engineGetServerSocketFactory() {
            throw new UnsupportedOperationException("for servers of the JDK, which use engines");
        }
    }
}
