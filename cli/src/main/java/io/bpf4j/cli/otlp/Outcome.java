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
 * What became of a push, in plain words. <i>Immutable.</i>
 *
 * <p>Tested by {@code PusherTest}.
 *
 * @param taken whether the collector has taken it
 * @param kind the same for outcomes that need not be said twice, whatever else differs
 * @param text why it was not taken, or what is wrong though it was; empty if all is well
 * @param words those of the other side, without a header's value; empty if there are none. They are for who runs the
 *     agent, and not for who reads its health
 * @param rejected points that the collector says it has thrown away
 * @param transientFailure whether another attempt may help soon
 * @param retryAfter how long the other side wants no attempt; zero if it does not say
 */
record Outcome(
        boolean taken,
        String kind,
        String text,
        String words,
        long rejected,
        boolean transientFailure,
        Duration retryAfter) {
    /** Characters of the other side's words that are kept. */
    static final int MAX_WORDS = 200;

    /** Shorter parts of a header's value are words such as Bearer. */
    private static final int LEAST_SECRET = 8;

    /** Those that OTLP says to try again: "Retryable Response Codes" of its specification. */
    private static final Set<Integer> AGAIN = Set.of(429, 502, 503, 504);

    /** Those with which a server says that it has too much to do: "OTLP/HTTP Throttling" of the specification. */
    private static final Set<Integer> TOO_MUCH = Set.of(429, 503);

    static Outcome failed(String kind, String text) {
        return new Outcome(false, kind, text, "", 0, false, Duration.ZERO);
    }

    private static Outcome again(String kind, String text, String words) {
        return new Outcome(false, kind, text, words, 0, true, Duration.ZERO);
    }

    /** What is said of it to who runs the agent. */
    String said() {
        return words.isEmpty() ? text : text + "; it says: '" + words + "'";
    }

    /**
     * Of an attempt that has no answer.
     *
     * @param secrets values of headers
     */
    static Outcome of(Throwable failure, Collection<String> secrets) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            switch (cause) {
                case UnresolvedAddressException _ -> {
                    return again("unknown host", "its host is not known", "");
                }
                case SSLException e -> {
                    return failed("tls", "no encrypted connection to it: " + shown(message(e), secrets));
                }
                case HttpConnectTimeoutException _ -> {
                    return again("no connection", "it can't be connected to within the time", "");
                }
                case ConnectException e
                when !(e.getCause() instanceof UnresolvedAddressException) -> {
                    return again(
                            "refused", "it does not take connections: nothing listens there, or it is not reached", "");
                }
                default -> {}
            }
        }
        String message = message(failure);
        return message.startsWith("body exceeds capacity")
                ? failed("too long", "its answer is longer than " + (OtlpSender.MAX_ANSWER >> 10) + " KiB")
                : again("no answer", "it gives no answer of HTTP", shown(message, secrets));
    }

    private static String message(Throwable failure) {
        Throwable known = failure.getMessage() == null && failure.getCause() != null ? failure.getCause() : failure;
        return known.getMessage() == null ? known.getClass().getSimpleName() : known.getMessage();
    }

    /** The first line of what the other side has written. It may write what it was sent. */
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
     * Of an answer.
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
            case 401, 403 -> ": the headers of --otlp-headers don't let this agent in";
            case 404, 405 -> ": is " + endpoint.getRawPath() + " where it takes metrics?";
            case 413 -> ": a push is too large for it; fewer series (--max-series) make it smaller";
            case 415 -> ": it does not take protobuf, or not this compression";
            default ->
                status < 300 || status >= 400
                        ? ""
                        : ", a redirect, which is not followed, since the headers would go there, too; give its URL if you"
                                + " trust it";
        };
        String words = status >= 300 && status < 400
                ? answer.headers().firstValue("Location").orElse("")
                : protobuf ? CollectorAnswer.refusal(body) : new String(body, StandardCharsets.UTF_8);
        Duration wait = TOO_MUCH.contains(status) ? RetryAfter.of(answer.headers(), Instant.now()) : Duration.ZERO;
        return new Outcome(
                false,
                "status " + status,
                "it answers with status " + status + why
                        + (wait.isZero() ? "" : ", and is left alone for " + wait.toSeconds() + " s"),
                shown(words, secrets),
                0,
                AGAIN.contains(status),
                wait);
    }

    /** A server of something else may answer everything with 200 and a page. */
    private static Outcome ofSuccess(byte[] body, String type, boolean protobuf, Collection<String> secrets) {
        boolean isMessage = protobuf || (type.isEmpty() && body.length > 0);
        Optional<CollectorAnswer> read =
                isMessage ? CollectorAnswer.taken(body) : Optional.of(new CollectorAnswer(0, ""));
        if (type.startsWith("text/html") || read.isEmpty()) {
            return failed(
                    "no otlp",
                    "its answer is none of OTLP, so it may be something else than a collector, and the metrics may be"
                            + " lost");
        }
        CollectorAnswer answer = read.get();
        return answer.rejected() > 0
                ? new Outcome(
                        true,
                        "rejected",
                        "it took a push, but threw away " + answer.rejected() + " points of it",
                        shown(answer.message(), secrets),
                        answer.rejected(),
                        false,
                        Duration.ZERO)
                : new Outcome(true, "taken", "", "", 0, false, Duration.ZERO);
    }
}
