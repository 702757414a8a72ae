package io.bpf4j.cli.export;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.ErrorText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Who may read from a server, and whether it encrypts. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code ServerAccessTest}.
 *
 * @param tls the encryption; empty if there is none
 * @param token what readers must know; empty if nothing
 */
public record ServerAccess(Optional<ServerTls> tls, Optional<BearerToken> token) {
    /** Everybody who can connect may read, without encryption. */
    public static final ServerAccess OPEN = new ServerAccess(Optional.empty(), Optional.empty());

    /** Reads the files again. Returns in words what can't be used, and has not replaced what was there. */
    List<String> reload() {
        List<String> problems = new ArrayList<>();
        tls.ifPresent(known -> reload(known::reload, problems));
        token.ifPresent(known -> reload(known::reload, problems));
        problems.addAll(expired());
        return problems;
    }

    private interface Reload {
        void run() throws IOException;
    }

    private static void reload(Reload reload, List<String> problems) {
        try {
            reload.run();
        } catch (IOException | CommandException e) {
            problems.add(ErrorText.of(e) + "; what it held before is still used");
        }
    }

    /** Which certificates have expired, in words. */
    List<String> expired() {
        return tls.map(ServerTls::expired).orElse(List.of());
    }

    /** What somebody who starts a server for other machines should know; empty if there is nothing. */
    Optional<String> risk(String url) {
        boolean knowsReaders =
                token.isPresent() || tls.map(ServerTls::knowsReaders).orElse(false);
        if (!knowsReaders) {
            return Optional.of("everybody who can connect to " + url + " can read the metrics");
        }
        return tls.isPresent()
                ? Optional.empty()
                : Optional.of("the token and the metrics go to readers of " + url
                        + " without encryption: --tls-certificate and --tls-key encrypt them");
    }
}
