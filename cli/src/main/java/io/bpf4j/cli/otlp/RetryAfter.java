package io.bpf4j.cli.otlp;

import java.net.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * How long an overloaded collector wants no push: its {@code Retry-After}, in seconds or as a date (RFC 9110, 10.2.3).
 * The two obsolete forms of a date are not read.
 *
 * <p>Tested by {@code RetryAfterTest}.
 */
final class RetryAfter {
    /** The longest wait. A collector may ask for a longer one by mistake, or in order to stop all pushes. */
    static final Duration LONGEST = Duration.ofMinutes(10);

    private static final Pattern SECONDS = Pattern.compile("[0-9]+");

    /** A number with more digits is larger than {@link #LONGEST}. */
    private static final int MOST_DIGITS = 9;

    private RetryAfter() {}

    /**
     * The time from now on, at most {@link #LONGEST}; zero if there is no such header, or it can't be read, or the time
     * has passed.
     *
     * @param now the time to compare the date with if the response has no {@code Date}, whose clock may differ from
     *     this machine's
     */
    static Duration of(HttpHeaders headers, Instant now) {
        String value = headers.firstValue("Retry-After").orElse("").strip();
        Duration time;
        if (SECONDS.matcher(value).matches()) {
            time = value.length() > MOST_DIGITS ? LONGEST : Duration.ofSeconds(Long.parseLong(value));
        } else {
            Instant sent = headers.firstValue("Date").flatMap(RetryAfter::date).orElse(now);
            time = date(value).map(until -> Duration.between(sent, until)).orElse(Duration.ZERO);
        }
        return time.isNegative() ? Duration.ZERO : time.compareTo(LONGEST) < 0 ? time : LONGEST;
    }

    private static Optional<Instant> date(String text) {
        try {
            return Optional.of(
                    ZonedDateTime.parse(text.strip(), DateTimeFormatter.RFC_1123_DATE_TIME.withLocale(Locale.ROOT))
                            .toInstant());
        } catch (DateTimeParseException e) {
            return Optional.empty();
        }
    }
}
