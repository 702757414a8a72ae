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
 * How long a collector that has too much to do wants to be left alone: its {@code Retry-After}, in seconds or as a date
 * (RFC 9110, 10.2.3). The two older forms of a date, which nobody may write any more, are not read.
 *
 * <p>Tested by {@code RetryAfterTest}.
 */
final class RetryAfter {
    /** Whatever a collector asks for, it is asked again after so long: it may be wrong, or want to stop all pushes. */
    static final Duration LONGEST = Duration.ofMinutes(10);

    private static final Pattern SECONDS = Pattern.compile("[0-9]+");

    /** More digits are more than {@link #LONGEST}. */
    private static final int MOST_DIGITS = 9;

    private RetryAfter() {}

    /**
     * The time from now on, at most {@link #LONGEST}; zero if there is no such header, or it can't be read, or the time
     * has passed.
     *
     * @param now by which a date is judged if the answer has none of its own: the clock of the other side may be another
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
