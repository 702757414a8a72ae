package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.CHROMIUM;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Chromium;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.CtrlC;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import java.awt.image.BufferedImage;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Answers as pages and pictures, in a browser. */
@Requires({BPF, GCC, SDT_H})
@Timeout(1800) // for what hangs: where others want the processors, a browser takes minutes for each page
class CliPicturesTest {
    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rw-------");

    /** When events began and ended to count, and how long that was. */
    private static final Pattern TIMES = Pattern.compile(
            "<p class=\"facts\">([0-9-]+ [0-9:]+) \\S+ to ([0-9-]+ [0-9:]+) \\S+, ([0-9.]+) (ms|s)</p>");

    @TempDir
    static Path folder;

    private static Path program;

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        // The name of the process, and what an unescaped page would run.
        program = Files.copy(CPrograms.asked(), folder.resolve("<script>&\"b"));
    }

    /** Asks about a run of the program, and writes both forms; the page. */
    private static Path ask(String run, String... question) throws IOException, InterruptedException {
        Path page = folder.resolve(question[0] + ".html");
        List<String> line = new ArrayList<>(List.of(question));
        line.addAll(1, List.of("-c", "'" + program + "' " + run, "--html", page.toString()));
        line.addAll(List.of("--svg", picture(page).toString()));
        Commands.Result result = Cli.run(line.toArray(String[]::new));
        assertThat(result.exitCode()).as(result.err()).isZero();
        return page;
    }

    private static Path picture(Path page) {
        return page.resolveSibling(page.getFileName().toString().replace(".html", ".svg"));
    }

    /** Different colours in the picture. */
    private static long colours(BufferedImage image) {
        return IntStream.range(0, image.getWidth() * image.getHeight())
                .map(i -> image.getRGB(i % image.getWidth(), i / image.getWidth()))
                .distinct()
                .count();
    }

    @Test
    @Requires(CHROMIUM)
    void aCountIsATable() throws IOException, InterruptedException {
        Path page = ask("values 300", "count", "asked:value", "--by", "str(arg1),comm");
        Chromium browser = new Chromium(Files.createDirectory(folder.resolve("count")));
        String dom = browser.dom(page);
        assertThat(dom)
                .contains("<html lang=\"en\">", "<title>count asked:value</title>", "<caption>")
                .contains("<th scope=\"col\" class=\"key\">str(arg1)</th>")
                .contains("<td class=\"key\">&lt;script&gt;&amp;\"b</td>")
                .contains("<td class=\"number\">100</td>")
                .doesNotContain("<script", "http:", "https:", "src=", "href=", "url(");
        BufferedImage light = browser.look(page, false);
        BufferedImage dark = browser.look(page, true);
        assertThat(colours(light)).isGreaterThan(10);
        assertThat(light.getRGB(0, 0)).isEqualTo(0xffffffff);
        assertThat(dark.getRGB(0, 0)).isEqualTo(0xff14171c);
        assertThat(new String(browser.pdf(page), StandardCharsets.ISO_8859_1)).startsWith("%PDF");
    }

    @Test
    @Requires(CHROMIUM)
    void aDistributionHasHistogramsAndWhatHappenedOverTime() throws IOException, InterruptedException {
        Path page = ask("pairs 1000 1000", "latency", "asked:begin", "asked:end", "--by", "comm", "--every", "0.1");
        Chromium browser = new Chromium(Files.createDirectory(folder.resolve("latency")));
        assertThat(browser.dom(page))
                .contains("<h2>comm=&lt;script&gt;&amp;\"b</h2>")
                .contains("<th scope=\"row\" class=\"range\">", "<caption>Events by value</caption>")
                .contains("<svg class=\"drawn\" role=\"img\" aria-label=\"Values over time", "class=\"h8\"")
                .doesNotContain("<script");
        String drawing = browser.dom(picture(page));
        assertThat(drawing)
                .contains("latency asked:begin asked:end", "class=\"bar\"", "class=\"h8\"")
                .doesNotContain("parsererror", "<script");
        assertThat(colours(browser.look(picture(page), false))).isGreaterThan(10);
    }

    @Test
    @Requires(CHROMIUM)
    void stacksAreAFlameGraphAndATable() throws IOException, InterruptedException {
        Path page = ask("tree 3000", "stack", "asked:leaf");
        Chromium browser = new Chromium(Files.createDirectory(folder.resolve("stack")));
        assertThat(browser.dom(page))
                .contains("<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"flamegraph\"", "data-name=\"middle\"")
                .contains("leaf \u2190 middle \u2190 top \u2190 main")
                .doesNotContain("https:", "src=", "href=");
        assertThat(colours(browser.look(page, true))).isGreaterThan(10);
        assertThat(browser.dom(picture(page))).contains("data-name=\"middle\"");
    }

    /** Nobody reads the answer for a while, and the page is written after it: in that time no event counts. */
    @Test
    void theTimesOfAPageAreThoseInWhichEventsCounted() throws IOException, InterruptedException {
        Path page = folder.resolve("times.html");
        String keys = "arg0,arg1,arg2,arg3,str(arg1),comm,pid,tid"; // more than a pipe holds
        LocalDateTime startedAt = now().truncatedTo(ChronoUnit.SECONDS); // as a page has it
        long started = System.nanoTime();
        Process stack = new ProcessBuilder(Cli.command(
                        "stack", program.toString(), "asked:value", "--json", "--by", keys, "--html", page.toString()))
                .start();
        try (Processes.Ended _ = Processes.endAfterwards(stack)) {
            assertThat(stack.errorReader().readLine()).contains("tracing 1 probe");
            LocalDateTime firstAt = now();
            long first = System.nanoTime();
            Commands.check(List.of(program.toString(), "values", "1000"));
            long last = System.nanoTime();
            LocalDateTime lastAt = now().truncatedTo(ChronoUnit.SECONDS);
            interrupt(stack);
            InputStream answer = stack.getInputStream();
            Await.until("the answer is printed", () -> answer.available() > 0);
            long most = System.nanoTime() - started;
            LocalDateTime endedAt = now();
            Await.until("the reader takes as long as all before", () -> System.nanoTime() - started > 2 * most);
            assertThat(new String(answer.readAllBytes(), StandardCharsets.UTF_8).lines())
                    .hasSize(1001);
            assertThat(stack.waitFor()).isZero();

            Matcher times = TIMES.matcher(Files.readString(page));
            assertThat(times.find()).isTrue();
            assertThat(time(times.group(1))).isBetween(startedAt, firstAt);
            assertThat(time(times.group(2))).isBetween(lastAt, endedAt);
            double seconds =
                    Double.parseDouble(times.group(3)) / (times.group(4).equals("ms") ? 1e3 : 1);
            // The page has three digits of it.
            assertThat(seconds).isBetween((last - first) / 1e9 * 0.99, most / 1e9 * 1.01);
        }
    }

    private static LocalDateTime now() {
        return LocalDateTime.now(ZoneId.systemDefault());
    }

    private static LocalDateTime time(String text) {
        return LocalDateTime.parse(text.replace(' ', 'T'));
    }

    /** Also those that came after the last whole interval. */
    @Test
    void aHeatMapHasAllEvents() throws IOException, InterruptedException {
        Path page = ask("pairs 1000 500", "count", "asked:end", "--by", "comm", "--every", "0.1");
        assertThat(page).content().contains("<caption>Events by comm</caption>", "<td class=\"number\">1001</td>");
        assertThat(Pattern.compile("<title>.*, [0-9:]+: ([0-9]+)</title></rect>")
                        .matcher(Files.readString(page))
                        .results()
                        .mapToLong(cell -> Long.parseLong(cell.group(1)))
                        .sum())
                .isEqualTo(1001);
    }

    @Test
    void aFileThatCanNotBeWrittenIsRefusedBeforehand() throws IOException, InterruptedException {
        for (String command : List.of("count", "top", "stack")) {
            assertThat(Cli.fail(command, program.toString(), "asked:value", "--html", folder.toString()))
                    .isEqualTo("bpf4j: '" + folder + "' can't be written: it is a directory");
        }
        Path nowhere = folder.resolve("nowhere/answer.svg");
        assertThat(Cli.fail("hist", program.toString(), "asked:value", "--of", "arg2", "--svg", nowhere.toString()))
                .endsWith("can't be written: there is no directory " + nowhere.getParent());
        String twice = folder.resolve("twice").toString();
        assertThat(Cli.fail("count", program.toString(), "asked:value", "--html", twice, "--svg", twice))
                .endsWith("--html and --svg name the same file: '" + twice + "'");
    }

    /** The page is longer than a pipe, which the test leaves unread from its first line on. */
    @Test
    void aSecondCtrlCEndsTheWriteOfAPage() throws IOException, InterruptedException {
        String keys = "arg0,arg1,arg2,arg3,str(arg1),comm,pid,tid";
        Process count = new ProcessBuilder(
                        Cli.command("count", program.toString(), "asked:value", "--by", keys, "--html", "/dev/stderr"))
                .redirectOutput(folder.resolve("rows").toFile())
                .start();
        try (Processes.Ended _ = Processes.endAfterwards(count)) {
            BufferedReader messages = count.errorReader();
            assertThat(messages.readLine()).contains("tracing 1 probe");
            Commands.check(List.of(program.toString(), "values", "1000"));
            interrupt(count);
            assertThat(messages.lines().anyMatch(line -> line.startsWith("<!DOCTYPE html>")))
                    .isTrue();
            CtrlC.untilEnd(count.pid());
            assertThat(count.waitFor()).isEqualTo(128 + 2);
        }
        assertThat(folder.resolve("rows")).content().contains("1000 events");
    }

    private static void interrupt(Process process) throws IOException, InterruptedException {
        Commands.check(List.of("kill", "-INT", Long.toString(process.pid())));
    }

    /** What was measured is printed, whatever becomes of the files. */
    @Test
    void anAnswerIsPrintedEvenIfItsFileCanNotBeWritten() throws IOException, InterruptedException {
        Commands.Result result =
                Cli.run("count", "-c", "'" + program + "' values 3", "asked:value", "--html", "/dev/full");
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.out()).contains("3 events");
        assertThat(result.err()).contains("bpf4j: '/dev/full' can't be written: No space left on device");
    }

    @Test
    void aLinkIsFollowedAndAPrivatePageStaysPrivate() throws IOException, InterruptedException {
        Path page = Files.createFile(folder.resolve("private.html"), PosixFilePermissions.asFileAttribute(PRIVATE));
        Path link = Files.createSymbolicLink(folder.resolve("linked.html"), page);
        Commands.Result result =
                Cli.run("count", "-c", "'" + program + "' values 3", "asked:value", "--html", link.toString());
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(link).isSymbolicLink();
        assertThat(page).content().contains("3 events");
        assertThat(Files.getPosixFilePermissions(page)).isEqualTo(PRIVATE);
    }

    @Test
    void pagesAndPicturesHaveTheRemarksOfTheTerminal() throws IOException, InterruptedException {
        Path early = CPrograms.compile("stacks", "-O2", "-fomit-frame-pointer");
        Path page = folder.resolve("early.html");
        Commands.Result result = Cli.run(
                "stack",
                "-c",
                early + " 5",
                "u:probed",
                "--html",
                page.toString(),
                "--svg",
                picture(page).toString());
        String remark = "the stacks of 5 of 5 events end early";
        assertThat(result.err()).contains(remark);
        assertThat(page).content().contains("<p class=\"remark\">" + remark);
        assertThat(picture(page)).content().contains(">" + remark).contains(">5 events</text>");
    }

    @Test
    void anAnswerWithoutEventsSaysSo() throws IOException, InterruptedException {
        Map<List<String>, String> questions = Map.of(
                List.of("count", "asked:leaf", "--by", "pid"),
                "{'probes':['asked:leaf']}",
                List.of("hist", "asked:value", "--of", "arg2", "--where", "arg0 < 0"),
                "{'probes':['asked:value'],'of':'arg2','where':'arg0 < 0'}",
                List.of("latency", "asked:begin", "asked:end"),
                "{'begin':'asked:begin','end':'asked:end'}",
                List.of("stack", "asked:leaf"),
                "{'probes':['asked:leaf'],'stacks':['user']}",
                List.of("top", "asked:leaf", "--by", "pid"),
                "{'probes':['asked:leaf']}");
        for (List<String> question : questions.keySet()) {
            Path page = ask("values 3", question.toArray(String[]::new));
            assertThat(page).as(question.toString()).content().contains("0 events", "<p>No events.</p>");
            assertThat(picture(page)).as(question.toString()).content().contains(">0 events");
            List<String> line = new ArrayList<>(question);
            line.addAll(1, List.of("--json", "-c", "'" + program + "' values 3"));
            assertThat(Cli.run(line.toArray(String[]::new)).out())
                    .startsWith("{'type':'end','events':0,'lost':0,'exact':true,'remarks':[".replace('\'', '"'))
                    .contains("and not from child processes that it may have had")
                    .endsWith("],'question':%s}\n"
                            .formatted(questions.get(question))
                            .replace('\'', '"'));
        }
    }
}
