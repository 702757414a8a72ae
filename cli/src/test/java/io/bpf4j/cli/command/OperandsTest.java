package io.bpf4j.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Text;
import io.bpf4j.usdt.ProbePattern;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OperandsTest {
    @TempDir
    Path directory;

    @Test
    void tellsFilesFromPatterns() throws IOException {
        Path withColon = Files.createFile(directory.resolve("odd:name"));
        Operands operands =
                Operands.of(List.of("libnone-such.so", "hotspot*:gc__*", withColon.toString(), "/no/such:file"));
        assertThat(operands.files()).containsExactly(Path.of("libnone-such.so"), withColon, Path.of("/no/such:file"));
        assertThat(operands.patterns()).extracting(ProbePattern::toString).containsExactly("hotspot*:gc__*");
    }

    @Test
    void understandsWhatOtherToolsWrite() throws IOException {
        Path file = Files.createFile(directory.resolve("postgres"));
        for (String operand : List.of(
                "usdt:" + file + ":postgresql:query__start",
                "u:" + file + ":postgresql:query__start",
                file + ":postgresql:query__start")) {
            Operands operands = Operands.of(List.of(operand));
            assertThat(operands.files()).containsExactly(file);
            assertThat(operands.patterns())
                    .extracting(ProbePattern::toString)
                    .containsExactly("postgresql:query__start");
        }
        assertThat(Operands.of(List.of("u:" + file + ":query__start")).patterns())
                .extracting(ProbePattern::toString)
                .containsExactly("*:query__start");
    }

    /** The first would be a probe of a module {@code usdt} as DTrace writes it, of which no file is. */
    @Test
    void bpftracesFormNeedsAFile() throws IOException {
        for (String operand : List.of("usdt:shop:paid", "usdt:*:shop:paid", "usdt:" + directory + "/none:shop:paid")) {
            assertThatThrownBy(() -> Operands.of(List.of(operand)))
                    .isInstanceOf(UsageException.class)
                    .hasMessageContaining("names no file that exists")
                    .hasMessageContaining("without a file PROVIDER:NAME");
        }
        Path file = Files.createFile(
                Files.createDirectory(directory.resolve("usdt:a:b")).resolve("c"));
        assertThat(Operands.of(List.of(file.toString())).files()).containsExactly(file);
        assertThat(Operands.of(List.of("usdt:paid")).patterns())
                .extracting(ProbePattern::toString)
                .containsExactly("usdt:paid");
    }

    /** As listings show it. */
    @Test
    void aByteThatIsNotUtf8IsTakenAsItsEscape() {
        ProbePattern pattern = Operands.of(List.of("app:ti\\xffk")).patterns().getFirst();
        assertThat(pattern.matches("app", "ti\udcffk")).isTrue();
        assertThat(pattern.matches("app", "ti\udcfek")).isFalse();
        assertThat(Text.printable(pattern.toString())).isEqualTo("app:ti\\xffk");
    }

    @Test
    void theFileOfAFunctionMayHaveColonsInItsName() throws IOException {
        Path file = Files.createFile(directory.resolve("odd:name"));
        for (String form : List.of("u", "uprobe")) {
            assertThat(NamedFunction.of(form + ":" + file + ":shop::pay"))
                    .contains(new NamedFunction(Optional.of(file), "u:shop::pay"));
        }
        assertThat(NamedFunction.of("uretprobe:" + file + ":pay"))
                .contains(new NamedFunction(Optional.of(file), "ur:pay"));
        assertThat(NamedFunction.of("u:" + file + ":shop:paid"))
                .as("bcc's notation of a USDT probe")
                .isEmpty();
        assertThat(NamedFunction.of("u:" + directory.resolve("no:file") + ":pay"))
                .isEmpty();
    }

    @Test
    void aFourPartNameMayHaveAProcessInIt() {
        Operands operands = Operands.of(List.of("postgresql1234:::query-start"));
        assertThat(operands.patterns()).extracting(ProbePattern::toString).containsExactly("postgresql:query-start");
        assertThat(operands.selectsAllProcesses()).isFalse();
        assertThat(operands.process(OptionalInt.empty())).hasValue(1234);
        assertThat(operands.process(OptionalInt.of(1234))).hasValue(1234);
        assertThatThrownBy(() -> operands.process(OptionalInt.of(7))).isInstanceOf(UsageException.class);
        assertThat(Operands.of(List.of(":::query-start")).process(OptionalInt.empty()))
                .isEmpty();
    }

    @Test
    void anEmptyPartOfAFourPartNameMeansAll() {
        assertThat(Operands.of(List.of("postgresql1234:::")).patterns())
                .extracting(ProbePattern::toString)
                .containsExactly("postgresql:*");
        assertThat(Operands.of(List.of("postgresql1234:::")).process(OptionalInt.empty()))
                .hasValue(1234);
    }

    /** One name is of a process and the other of all; there is one process for both. */
    @Test
    void namesOfOneAndOfAllProcessesDoNotFitTogether() {
        Operands operands = Operands.of(List.of("p7:::n", "q*:::n"));
        assertThatThrownBy(() -> operands.process(OptionalInt.empty()))
                .isInstanceOf(UsageException.class)
                .hasMessageContaining("process 7")
                .hasMessageContaining("-p");
        assertThat(operands.process(OptionalInt.of(7))).hasValue(7);
        assertThat(Operands.of(List.of("p7:::n", "q7:::n")).process(OptionalInt.empty()))
                .hasValue(7);
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql*:::query-start", ":::tick", "::x", "p:libx.so::n", "postgres:f:n"})
    void dtraceNamesWithoutAProcessMeanAllProcesses(String operand) throws IOException {
        assertThat(Operands.of(List.of(operand)).selectsAllProcesses()).isTrue();
        assertThat(Operands.of(List.of(operand, "p:n")).selectsAllProcesses()).isTrue();
        assertThat(Operands.of(List.of(operand, "p7:::n")).selectsAllProcesses())
                .isFalse();
        String file = Files.createFile(directory.resolve("postgres")).toString();
        assertThat(Operands.of(List.of(operand, file)).selectsAllProcesses()).isFalse();
        assertThat(Operands.of(List.of(file + ":" + operand)).selectsAllProcesses())
                .isFalse();
        assertThat(Operands.of(List.of("p:n")).selectsAllProcesses()).isFalse();
    }

    @Test
    void theTargetIsAProcessThatSomebodyElseNames() {
        Operands operands = Operands.of(List.of("postgresql$target:::query-start"));
        assertThat(operands.patterns()).extracting(ProbePattern::toString).containsExactly("postgresql:query-start");
        assertThat(operands.selectsAllProcesses()).isFalse();
        operands.checkTarget(true, true);
        assertThatThrownBy(() -> operands.checkTarget(false, true))
                .isInstanceOf(UsageException.class)
                .hasMessageContaining("-p or -c");
    }

    @Test
    void bracesThatNestDeeplyAreWrongUsage() {
        assertThatThrownBy(() -> Operands.of(List.of("p:" + "{a,".repeat(101) + "}".repeat(101))))
                .isInstanceOf(UsageException.class)
                .hasMessageContaining("nested more than 100 deep");
    }

    @Test
    void aNameAloneIsLookedForAsALibraryAndAsAProgram() {
        assertThat(Operands.of(List.of("sh")).files().getFirst()).isAbsolute().exists();
        assertThat(Operands.of(List.of("no-such-program")).files()).containsExactly(Path.of("no-such-program"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ":x", "x:", "a:b:", ":::", ":"})
    void refusesWhatIsNeither(String operand) {
        assertThatThrownBy(() -> Operands.of(List.of(operand))).isInstanceOf(UsageException.class);
    }
}
