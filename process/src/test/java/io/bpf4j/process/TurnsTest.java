package io.bpf4j.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TurnsTest {
    private final Turns<String> turns = new Turns<>();

    @Test
    void eachHasItsTurn() {
        turns.addHeld("a");
        turns.addHeld("b");
        assertThat(turns.next()).isEqualTo("a");
        turns.addHeld("a");
        turns.addHeld("c");
        assertThat(List.of(turns.next(), turns.next(), turns.next())).containsExactly("b", "a", "c");
        assertThat(turns.isEmpty()).isTrue();
        assertThatExceptionOfType(NoSuchElementException.class).isThrownBy(turns::next);
    }

    @Test
    void aHeldProcessWaitsForOneOtherOnly() {
        List.of("a", "b", "c").forEach(turns::add);
        assertThat(turns.next()).isEqualTo("a");
        turns.addHeld("held");
        turns.addHeld("held too");
        List<String> order = new ArrayList<>();
        while (!turns.isEmpty()) {
            order.add(turns.next());
        }
        assertThat(order).containsExactly("held", "b", "held too", "c");
    }

    @Test
    void aProcessHasOnePlace() {
        turns.add("a");
        turns.addHeld("a");
        turns.add("a");
        assertThat(turns.next()).isEqualTo("a");
        assertThat(turns.isEmpty()).isTrue();
        turns.add("a");
        turns.remove("a");
        assertThat(turns.isEmpty()).isTrue();
    }

    /** A process decides how many mappings it has; another one with few is searched before that search ends. */
    @Test
    void aSearchOfManyMappingsLetsOthersPass(@TempDir Path proc) throws IOException {
        String mapping = "7f00e0000000-7f00e0001000 rw-p 00000000 00:00 0 \n";
        Files.writeString(Files.createDirectories(proc.resolve("1")).resolve("maps"), mapping.repeat(60_000));
        Files.writeString(Files.createDirectories(proc.resolve("2")).resolve("maps"), mapping.repeat(50));
        ProcessFiles files = new ProcessFiles(Host.running().withProc(proc));
        Turns<CodeSearch> searches = new Turns<>();
        try (CodeSearch large = files.search(1, OptionalLong.empty());
                CodeSearch small = files.search(2, OptionalLong.empty())) {
            searches.addHeld(large);
            searches.addHeld(small);
            List<CodeSearch> steps = new ArrayList<>();
            while (!searches.isEmpty()) {
                CodeSearch search = searches.next();
                steps.add(search);
                if (search.step()) {
                    searches.addHeld(search);
                }
            }
            assertThat(steps.lastIndexOf(small)).isLessThan(5);
            assertThat(steps).hasSizeGreaterThan(50);
        }
    }
}
