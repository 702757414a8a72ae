package io.bpf4j.cli.export;

import java.nio.ByteBuffer;
import java.util.function.BooleanSupplier;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * The encryption of one connection of the JDK's server, which can be ended while a thread writes.
 *
 * <p>The JDK's server ends a connection whose reader takes too long, or when the server stops. It asks the engine to close
 * first, and then writes the end of the TLS session, for which it waits for the lock that the blocked writer holds. A reader
 * who does not read would so block the timer, all other readers and the end of the server (HttpConnection.close and
 * SSLStreams.OutputStream of sun.net.httpserver, JDK 25). So a close interrupts the thread that uses the engine, which closes
 * its channel; and after a close nothing is written any more. Each request has a virtual thread of its own, so no other
 * request is interrupted.
 *
 * <p>Tested by {@code ServerAccessTest}.
 */
final class ServerEngine extends SSLEngine {
    private final SSLEngine engine;
    private final BooleanSupplier isCurrent;
    private volatile @Nullable Thread user;
    private volatile boolean established;
    private volatile boolean closed;

    /**
     * @param engine does the work
     * @param isCurrent whether the keys and authorities that the engine has are still those of the server; if they are
     *     not, the connection ends with its next request
     */
    ServerEngine(SSLEngine engine, BooleanSupplier isCurrent) {
        this.engine = engine;
        this.isCurrent = isCurrent;
    }

    @Override
    public SSLEngineResult wrap(ByteBuffer[] sources, int offset, int length, ByteBuffer target) throws SSLException {
        if (closed && established) {
            return new SSLEngineResult(Status.CLOSED, HandshakeStatus.NOT_HANDSHAKING, 0, 0);
        }
        use();
        return noted(engine.wrap(sources, offset, length, target));
    }

    @Override
    public SSLEngineResult unwrap(ByteBuffer source, ByteBuffer[] targets, int offset, int length) throws SSLException {
        if (!isCurrent.getAsBoolean()) {
            throw new SSLException("the certificates of the server were read again");
        }
        use();
        return noted(engine.unwrap(source, targets, offset, length));
    }

    /** The server's own threads, which are no virtual ones, must not be interrupted. */
    private void use() {
        if (Thread.currentThread().isVirtual()) {
            user = Thread.currentThread();
        }
    }

    private SSLEngineResult noted(SSLEngineResult result) {
        if (result.getHandshakeStatus() == HandshakeStatus.FINISHED) {
            established = true;
        }
        return result;
    }

    @Override
    public void closeInbound() throws SSLException {
        close();
        engine.closeInbound();
    }

    @Override
    public void closeOutbound() {
        close();
        engine.closeOutbound();
    }

    private void close() {
        closed = true;
        Thread using = user;
        if (using != null && !using.equals(Thread.currentThread())) {
            using.interrupt();
        }
    }

    @Override
    public @Nullable Runnable getDelegatedTask() {
        return engine.getDelegatedTask();
    }

    @Override
    public boolean isInboundDone() {
        return engine.isInboundDone();
    }

    @Override
    public boolean isOutboundDone() {
        return engine.isOutboundDone();
    }

    @Override
    public String[] getSupportedCipherSuites() {
        return engine.getSupportedCipherSuites();
    }

    @Override
    public String[] getEnabledCipherSuites() {
        return engine.getEnabledCipherSuites();
    }

    @Override
    public void setEnabledCipherSuites(String[] suites) {
        engine.setEnabledCipherSuites(suites);
    }

    @Override
    public String[] getSupportedProtocols() {
        return engine.getSupportedProtocols();
    }

    @Override
    public String[] getEnabledProtocols() {
        return engine.getEnabledProtocols();
    }

    @Override
    public void setEnabledProtocols(String[] protocols) {
        engine.setEnabledProtocols(protocols);
    }

    @Override
    public SSLSession getSession() {
        return engine.getSession();
    }

    @Override
    public void beginHandshake() throws SSLException {
        engine.beginHandshake();
    }

    @Override
    public HandshakeStatus getHandshakeStatus() {
        return engine.getHandshakeStatus();
    }

    @Override
    public void setUseClientMode(boolean mode) {
        engine.setUseClientMode(mode);
    }

    @Override
    public boolean getUseClientMode() {
        return engine.getUseClientMode();
    }

    @Override
    public void setNeedClientAuth(boolean need) {
        engine.setNeedClientAuth(need);
    }

    @Override
    public boolean getNeedClientAuth() {
        return engine.getNeedClientAuth();
    }

    @Override
    public void setWantClientAuth(boolean want) {
        engine.setWantClientAuth(want);
    }

    @Override
    public boolean getWantClientAuth() {
        return engine.getWantClientAuth();
    }

    @Override
    public void setEnableSessionCreation(boolean flag) {
        engine.setEnableSessionCreation(flag);
    }

    @Override
    public boolean getEnableSessionCreation() {
        return engine.getEnableSessionCreation();
    }

    @Override
    public SSLParameters getSSLParameters() {
        return engine.getSSLParameters();
    }

    @Override
    public void setSSLParameters(SSLParameters parameters) {
        engine.setSSLParameters(parameters);
    }
}
