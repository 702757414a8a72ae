package io.bpf4j.cli.command;

import io.bpf4j.cli.export.BearerToken;
import io.bpf4j.cli.export.MetricsServer;
import io.bpf4j.cli.export.ServerAccess;
import io.bpf4j.cli.export.ServerTls;
import io.bpf4j.cli.failure.UsageException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The options of the agent for serving its metrics. <i>Confined.</i>
 *
 * <p>Tested by {@code ExportCommandTest}.
 */
final class ServerOptions {
    private static final String DEFAULT_PORT = "10273";

    @Option(
            names = "--listen",
            paramLabel = "[ADDRESS:]PORT",
            description = "Where to serve. Without ADDRESS only this machine can connect. Default: " + DEFAULT_PORT
                    + "; with --otlp, nowhere.")
    private @Nullable String listen;

    @Option(
            names = "--tls-certificate",
            paramLabel = "FILE",
            description = "Serve by HTTPS, with this certificate in PEM, and after it those that lead to an authority "
                    + "which readers know.")
    private @Nullable Path certificate;

    @Option(
            names = "--tls-key",
            paramLabel = "FILE",
            description = "The private key of the certificate: PEM, PKCS #8, without a password. Nobody else may be "
                    + "able to read or change it.")
    private @Nullable Path key;

    @Option(
            names = "--tls-client-ca",
            paramLabel = "FILE",
            description = "Serve only readers with a certificate that one of these has signed: PEM.")
    private @Nullable Path clientAuthorities;

    @Option(
            names = "--token",
            paramLabel = "FILE",
            description = "Serve only readers who send the token in this file: 'Authorization: Bearer TOKEN'. Nobody "
                    + "else may be able to read or change it.")
    private @Nullable Path token;

    /**
     * Where to serve; empty if nowhere.
     *
     * @param pushes whether the metrics are pushed, too
     * @throws UsageException if it is no address
     */
    Optional<InetSocketAddress> address(boolean pushes) {
        return Optional.ofNullable(listen)
                .or(() -> pushes ? Optional.empty() : Optional.of(DEFAULT_PORT))
                .map(MetricsServer::address);
    }

    /**
     * Who may read. Reads the files.
     *
     * @param serves whether there is a server
     * @throws UsageException if options don't fit together
     * @throws io.bpf4j.cli.failure.CommandException if a file can't be used
     */
    ServerAccess access(boolean serves) throws IOException {
        if (!serves && Stream.of(certificate, key, clientAuthorities, token).anyMatch(file -> file != null)) {
            throw new UsageException("--tls-certificate, --tls-key, --tls-client-ca and --token are for a server: with"
                    + " --otlp, --listen asks for one");
        }
        if ((certificate == null) != (key == null)) {
            throw new UsageException("--tls-certificate and --tls-key need each other");
        }
        if (clientAuthorities != null && certificate == null) {
            throw new UsageException("--tls-client-ca needs --tls-certificate and --tls-key");
        }
        return new ServerAccess(
                certificate == null || key == null
                        ? Optional.empty()
                        : Optional.of(ServerTls.of(
                                new ServerTls.Source(certificate, key, Optional.ofNullable(clientAuthorities)))),
                token == null ? Optional.empty() : Optional.of(BearerToken.of(token)));
    }
}
