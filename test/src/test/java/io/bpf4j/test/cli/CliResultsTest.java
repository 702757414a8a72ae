package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.HELD_COMMANDS;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.Requires;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.Question;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Results of functions that return an {@code int}: each form of the answer says how negative ones are read. */
@Requires({BPF, BPF_COOKIE, GCC, HELD_COMMANDS, SDT_H})
@Timeout(600) // for what hangs
class CliResultsTest {
    private static final String REMEDY =
            "if the function returns an int, (int)retval reads it as a signed 32-bit number, here -2";

    @TempDir
    static Path folder;

    private static Path program;

    @BeforeAll
    static void compile() {
        program = CPrograms.compile("spread", "-O2");
    }

    /** Asks about a run of the program; nothing may be missing. */
    private static Commands.Result ask(String run, String... question) throws IOException, InterruptedException {
        List<String> line = new ArrayList<>(List.of(question));
        line.addAll(1, List.of("-c", program + " " + run));
        Commands.Result result = Cli.run(line.toArray(String[]::new));
        assertThat(result.exitCode()).as(result.err()).isZero();
        return result;
    }

    @Test
    void aHistogramOfNegativeResultsNamesTheConversion() throws IOException, InterruptedException {
        assertThat(ask("results 3", "hist", "ur:result", "--of", "retval").err())
                .contains(REMEDY);
        Commands.Result converted = ask("results 3", "hist", "ur:result", "--of", "(int)retval");
        assertThat(converted.out()).contains("min -2, ").contains("max 1");
        assertThat(converted.err()).doesNotContain("(int)retval");
    }

    @Test
    void aCountByNegativeResultsNamesTheConversionInEachForm() throws IOException, InterruptedException {
        Path page = folder.resolve("results.html");
        Commands.Result text = ask("results 3", "count", "ur:result", "--by", "retval", "--html", page.toString());
        assertThat(text.err()).contains(REMEDY);
        assertThat(Files.readString(page)).contains("<p class=\"remark\">retval has values such as ", REMEDY);
        List<Map<String, @Nullable Object>> lines =
                ofAnswer(ask("results 3", "count", "ur:result", "--by", "retval", "--json"));
        assertThat(lines.getLast()).extracting("remarks").asString().contains(REMEDY);
    }

    @Test
    void shownNegativeResultsNameTheConversion() throws IOException, InterruptedException {
        List<Map<String, @Nullable Object>> lines =
                ofAnswer(ask("results 3", "trace", "ur:result", "--show", "retval", "--json"));
        assertThat(lines.getLast()).extracting("remarks").asString().contains(REMEDY);
    }

    @Test
    void largeUnsignedResultsAndPositiveOnesNameNothing() throws IOException, InterruptedException {
        assertThat(ask("unsigned 5", "count", "ur:large", "--by", "retval").err())
                .doesNotContain("retval");
        assertThat(ask("results 2", "count", "ur:result", "--by", "retval").err())
                .doesNotContain("retval");
    }

    @Test
    void theLibraryNamesTheConversion() throws IOException, InterruptedException {
        try (Answer answer = Question.on(List.of())
                .alsoOn(FunctionProbe.exit(program, "result"))
                .by("retval")
                .open()) {
            assertThat(answer.hints()).isEmpty();
            Commands.check(List.of(program.toString(), "results", "3"));
            assertThat(answer.hints()).singleElement().asString().contains(REMEDY);
        }
    }

    /** The records; the program prints numbers to the same standard output. */
    private static List<Map<String, @Nullable Object>> ofAnswer(Commands.Result result) {
        return Json.lines(String.join(
                "\n", result.out().lines().filter(line -> line.startsWith("{")).toList()));
    }
}
