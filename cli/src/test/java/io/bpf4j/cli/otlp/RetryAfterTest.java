package io.bpf4j.cli.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RetryAfterTest {
    private static final Instant NOW = Instant.parse("2026-11-29T08:00:00Z");

    private static Duration of(Map<String, List<String>> headers) {
        return RetryAfter.of(HttpHeaders.of(headers, (_, _) -> true), NOW);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0 | 0",
                "1 | 1",
                "' 120 ' | 120",
                "600 | 600",
                "601 | 600",
                "99999999999999999999999999999 | 600",
                "-1 | 0",
                "1.5 | 0",
                "1e3 | 0",
                "soon | 0",
                "'' | 0",
                "Sun, 29 Nov 2026 08:00:30 GMT | 30",
                "Sun, 29 Nov 2026 07:59:30 GMT | 0",
                "Fri, 31 Dec 9999 23:59:59 GMT | 600",
                "Mon, 29 Nov 2026 08:00:30 GMT | 0",
                "Sunday, 29-Nov-26 08:00:30 GMT | 0",
                "2026-11-29T08:00:30Z | 0",
            })
    void secondsOrADate(String value, long seconds) {
        assertThat(of(Map.of("Retry-After", List.of(value)))).isEqualTo(Duration.ofSeconds(seconds));
    }

    @Test
    void withoutAHeaderThereIsNoWait() {
        assertThat(of(Map.of())).isZero();
    }

    /** Its clock may be wrong by a day: what counts is from when to when it says. */
    @Test
    void aDateIsJudgedByTheClockOfWhoSentIt() {
        List<String> until = List.of("Mon, 30 Nov 2026 09:00:07 GMT");
        assertThat(of(Map.of("Retry-After", until, "Date", List.of("Mon, 30 Nov 2026 09:00:00 GMT"))))
                .isEqualTo(Duration.ofSeconds(7));
        assertThat(of(Map.of("Retry-After", until, "Date", List.of("today")))).isEqualTo(RetryAfter.LONGEST);
    }
}
