package io.bpf4j.cli.otlp;

import io.bpf4j.cli.output.Text;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpResponse;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import javax.net.ssl.SSLException;

/**
 * The result of a push. <i>Immutable.</i>
 *
 * <p>Tested by {@code PusherTest}.
 *
 * @param taken whether the collector accepted the push
 * @param kind the kind of the outcome; while pushes fail, each kind is reported once
 * @param text why the push was not accepted, or what is wrong although it was; empty if nothing is wrong
 * @param words the message of the collector or of the HTTP client, without the value of a header; empty if there is
 *     none. The agent prints it, and its health page omits it
 * @param rejected the number of points that the collector reports as rejected
 * @param transientFailure whether another attempt may succeed soon
 * @param retryAfter how long to wait before the next attempt, by the collector's {@code Retry-After}; zero if it has
 *     none
 */
record Outcome(
        boolean taken,
        String kind,
        String text,
        String words,
        long rejected,
        boolean transientFailure,
        Duration retryAfter) {
    /** The maximum length of {@link #words}, in characters. */
    static final int MAX_WORDS = 200;

    /** Shorter parts of a header's value are no secrets but words such as Bearer. */
    private static final int LEAST_SECRET = 8;

    /** The status codes for which OTLP asks to try again: "Retryable Response Codes" of its specification. */
    private static final Set<Integer> AGAIN = Set.of(429, 502, 503, 504);

    /** The status codes of an overloaded server: "OTLP/HTTP Throttling" of the specification. */
    private static final Set<Integer> TOO_MUCH = Set.of(429, 503);

    static Outcome failed(String kind, String text) {
        return new Outcome(false, kind, text, "", 0, false, Duration.ZERO);
    }

    private static Outcome again(String kind, String text, String words) {
        return new Outcome(false, kind, text, words, 0, true, Duration.ZERO);
    }

    /** The message that the agent prints. */
    String message() {
        return words.isEmpty() ? text : text + "; message: '" + words + "'";
    }

    /**
     * The outcome of an attempt that got no response.
     *
     * @param secrets values of headers
     */
    static Outcome of(Throwable failure, Collection<String> secrets) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            switch (cause) {
                case UnresolvedAddressException _ -> {
                    return again("unknown host", "the host is unknown", "");
                }
                case SSLException e -> {
                    return failed("tls", "the TLS connection failed: " + shown(message(e), secrets));
                }
                case HttpConnectTimeoutException _ -> {
                    return again("no connection", "no connection within the time limit", "");
                }
                case ConnectException e
                when !(e.getCause() instanceof UnresolvedAddressException) -> {
                    return again(
                            "refused", "can't connect: nothing listens at this address, or it can't be reached", "");
                }
                default -> {}
            }
        }
        String message = message(failure);
        return message.startsWith("body exceeds capacity")
                ? failed("too long", "the response is longer than " + (OtlpSender.MAX_ANSWER >> 10) + " KiB")
                : again("no answer", "no HTTP response", shown(message, secrets));
    }

    private static String message(Throwable failure) {
        Throwable known = failure.getMessage() == null && failure.getCause() != null ? failure.getCause() : failure;
        return known.getMessage() == null ? known.getClass().getSimpleName() : known.getMessage();
    }

    /** The first line of a text, without secrets: a server may repeat what it was sent. */
    static String shown(String text, Collection<String> secrets) {
        String without = text;
        for (String secret : secrets) {
            for (String part : secret.split(" ", -1)) {
                without = part.length() < LEAST_SECRET ? without : without.replace(part, "…");
            }
        }
        String line = without.strip().lines().findFirst().orElse("").strip();
        return Text.printable(line.length() <= MAX_WORDS ? line : line.substring(0, MAX_WORDS) + "…");
    }

    /**
     * The outcome of an attempt that got a response.
     *
     * @param secrets values of headers
     */
    static Outcome of(URI endpoint, HttpResponse<byte[]> answer, Collection<String> secrets) {
        int status = answer.statusCode();
        byte[] body = answer.body();
        String type = answer.headers().firstValue("Content-Type").orElse("").toLowerCase(Locale.ROOT);
        boolean protobuf = type.startsWith("application/x-protobuf");
        if (status >= 200 && status < 300) {
            return ofSuccess(body, type, protobuf, secrets);
        }
        String why = switch (status) {
            case 401, 403 -> ": the collector requires other headers (--otlp-headers)";
            case 404, 405 -> ": " + endpoint.getRawPath() + " may not be its path for metrics";
            case 413 -> ": the push is too large for the collector; reduce --max-series";
            case 415 -> ": the collector does not accept protobuf, or not this compression";
            default ->
                status < 300 || status >= 400
                        ? ""
                        : ", a redirect; bpf4j does not follow it, because the headers would be sent there, too; if you trust the other URL, use it instead";
        };
        String words = status >= 300 && status < 400
                ? answer.headers().firstValue("Location").orElse("")
                : protobuf ? CollectorAnswer.refusal(body) : new String(body, StandardCharsets.UTF_8);
        Duration wait = TOO_MUCH.contains(status) ? RetryAfter.of(answer.headers(), Instant.now()) : Duration.ZERO;
        return new Outcome(
                false,
                "status " + status,
                "the collector responded with status " + status + why
                        + (wait.isZero() ? "" : ", and no push is sent for " + wait.toSeconds() + " s"),
                shown(words, secrets),
                0,
                AGAIN.contains(status),
                wait);
    }

    /** A server that is no collector may respond to everything with status 200 and a page. */
    private static Outcome ofSuccess(byte[] body, String type, boolean protobuf, Collection<String> secrets) {
        boolean isMessage = protobuf || (type.isEmpty() && body.length > 0);
        Optional<CollectorAnswer> read =
                isMessage ? CollectorAnswer.taken(body) : Optional.of(new CollectorAnswer(0, ""));
        if (type.startsWith("text/html") || read.isEmpty()) {
            return failed(
                    "no otlp",
                    "the response is not OTLP: the server may not be a collector, and the metrics may be lost");
        }
        CollectorAnswer answer = read.get();
        return answer.rejected() > 0
                ? new Outcome(
                        true,
                        "rejected",
                        "the collector accepted a push, but rejected " + answer.rejected() + " of its points",
                        shown(answer.message(), secrets),
                        answer.rejected(),
                        false,
                        Duration.ZERO)
                : new Outcome(true, "taken", "", "", 0, false, Duration.ZERO);
    }
}
