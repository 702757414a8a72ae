package io.bpf4j.cli.export;

import com.sun.net.httpserver.Authenticator;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpPrincipal;
import io.bpf4j.cli.failure.AccessFile;
import io.bpf4j.cli.failure.CommandException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.regex.Pattern;

/**
 * Lets those read who send the token of a file, {@code Authorization: Bearer TOKEN} (RFC 6750). The path {@code /}, which
 * only says that the agent answers, needs none. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code ServerAccessTest}.
 */
public final class BearerToken extends Authenticator {
    private static final int MAX_BYTES = 1 << 12;

    /** Characters: nothing keeps a reader from trying many. */
    private static final int LEAST = 16;

    /** b64token of RFC 6750, section 2.1. */
    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/-]+=*");

    private static final String SCHEME = "Bearer ";

    private final Path file;
    private volatile byte[] token;

    private BearerToken(Path file, byte[] token) {
        this.file = file;
        this.token = token;
    }

    /**
     * Reads the file.
     *
     * @throws CommandException if it has no token, or another user can change or read it
     */
    public static BearerToken of(Path file) throws IOException {
        return new BearerToken(file, read(file));
    }

    /**
     * Reads the file again: from now on the new token is needed.
     *
     * @throws CommandException as {@link #of}; the former token stays
     */
    public void reload() throws IOException {
        token = read(file);
    }

    private static byte[] read(Path file) throws IOException {
        String text = new String(AccessFile.secret(file, MAX_BYTES), StandardCharsets.ISO_8859_1).strip();
        if (!TOKEN.matcher(text).matches() || text.length() < LEAST) {
            throw new CommandException(file + ": is not a token: a line of at least " + LEAST
                    + " letters, digits and - . _ ~ + /, which may end with =");
        }
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    @Override
    public Result authenticate(HttpExchange exchange) {
        if (exchange.getRequestURI().getPath() != null
                && exchange.getRequestURI().getPath().equals("/")) {
            return new Success(new HttpPrincipal("anybody", "bpf4j"));
        }
        String header = exchange.getRequestHeaders().getFirst("Authorization");
        if (header != null && header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            byte[] sent = header.substring(SCHEME.length()).strip().getBytes(StandardCharsets.ISO_8859_1);
            // Takes as long for a token that begins rightly.
            if (MessageDigest.isEqual(sent, token)) {
                return new Success(new HttpPrincipal("reader", "bpf4j"));
            }
        }
        exchange.getResponseHeaders().set("WWW-Authenticate", "Bearer realm=\"bpf4j\"");
        return new Failure(401);
    }
}
