package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.GXX;
import static io.bpf4j.test.support.Requirement.HELD_COMMANDS;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Functions and USDT probes of several files, of which some have the same names. */
@Requires({BPF, BPF_COOKIE, GCC, HELD_COMMANDS, SDT_H})
@Timeout(600) // for what hangs
class CliFunctionsTest {
    @TempDir
    static Path folder;

    private static Path program;
    private static Path once;
    private static Path twice;

    /** Calls first() and second() of one library 10 times each, and of the other 20 times; each call ends in a probe. */
    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        Path library = Files.writeString(folder.resolve("library.c"), """
            #include <sys/sdt.h>
            __attribute__((noipa)) int first(int n) { DTRACE_PROBE(both, first); DTRACE_PROBE(each, call); return n + 1; }
            __attribute__((noipa)) int second(int n) { DTRACE_PROBE(both, second); DTRACE_PROBE(each, call); return n + 2; }
            extern __typeof(first) also __attribute__((alias("first")));
            """);
        once = folder.resolve("libonce.so");
        twice = folder.resolve("libtwice.so");
        for (Path made : List.of(once, twice)) {
            Commands.check(List.of("gcc", "-O1", "-shared", "-fPIC", "-o", made.toString(), library.toString()));
        }
        Path main = Files.writeString(folder.resolve("main.c"), """
            #include <dlfcn.h>
            #include <sys/sdt.h>
            __attribute__((noipa)) int own(int n) { return n; }
            int main(int argc, char **argv) {
                int sum = 0;
                for (int library = 1; library < argc; library++) {
                    void *opened = dlopen(argv[library], RTLD_NOW);
                    int (*first)(int) = (int (*)(int))dlsym(opened, "first");
                    int (*second)(int) = (int (*)(int))dlsym(opened, "second");
                    for (int n = 0; n < 10 * library; n++) {
                        sum += own(first(n) + second(n));
                        DTRACE_PROBE1(files, called, n);
                    }
                }
                return sum == 0;
            }
            """);
        program = folder.resolve("program");
        Commands.check(List.of("gcc", "-O1", "-o", program.toString(), main.toString(), "-ldl"));
    }

    /** The rows of an answer about a run of the program, without the sums. */
    private static List<String> rows(String... question) throws IOException, InterruptedException {
        Commands.Result result = Cli.run(question);
        assertThat(result.exitCode()).as(result.err()).isZero();
        List<String> lines = result.out().lines().toList();
        return lines.subList(0, lines.size() - 1);
    }

    private static String[] question(String name, String... probes) {
        return Stream.concat(Stream.of(name, "--json", "-c", program + " " + once + " " + twice), Stream.of(probes))
                .toArray(String[]::new);
    }

    private static String row(String probe, int count) {
        return "{\"type\":\"row\",\"key\":{\"probe\":\"" + probe + "\"},\"count\":" + count + "}";
    }

    @Test
    void aFileBelongsToTheFunctionThatItIsWrittenWith() throws IOException, InterruptedException {
        String first = "u:" + once + ":first";
        assertThat(rows(question("count", first, "u:" + twice + ":second", "--by", "probe")))
                .containsExactlyInAnyOrder(row("u:first", 10), row("u:second", 20));
        assertThat(rows(question("count", first, "u:own", "files:called", "--by", "probe")))
                .containsExactlyInAnyOrder(row("u:first", 10), row("u:own", 30), row("files:called", 30));
    }

    /** At the end of a call its argument's register has another value. */
    @Test
    void theTimeToOpenAFileIsKnownByItsName() throws IOException, InterruptedException {
        List<String> rows = rows(
                "latency", "--json", "-c", "cat /etc/passwd /etc/group", "u:libc.so.6:open", "--by", "str(begin.arg0)");
        for (String file : List.of("/etc/passwd", "/etc/group")) {
            assertThat(rows)
                    .filteredOn(row -> row.contains("\"str(begin.arg0)\":\"" + file + "\""))
                    .hasSize(1);
        }
    }

    @Test
    void functionsOfOneNameAreOneRowAndTheAnswerSaysSo() throws IOException, InterruptedException {
        String first = "u:" + once + ":first";
        Commands.Result both = Cli.run(question("count", first, "u:" + twice + ":first", "--by", "probe"));
        assertThat(both.out()).startsWith(row("u:first", 30)).contains("2 functions are named u:first");
        assertThat(both.err()).contains("bpf4j: 2 functions are named u:first: a row by probe is the sum");
        Commands.Result all =
                Cli.run(question("count", once.toString(), twice.toString(), "u:*st", "u:*ond", "--by", "probe"));
        assertThat(all.err()).contains("bpf4j: 2 names, such as u:first, belong to several functions each");
        assertThat(Cli.run(question("count", first, "u:" + twice + ":second", "--by", "probe"))
                        .err())
                .doesNotContain("named");
    }

    @Test
    void bracesAreAPatternOfFunctions() throws IOException, InterruptedException {
        assertThat(rows(question("count", "u:" + once + ":{fir,secon}[dt]", "--by", "probe")))
                .containsExactly(row("u:second", 10));
        assertThat(rows(question("count", once.toString(), "u:{fir[rs]t,second}", "--by", "probe")))
                .containsExactlyInAnyOrder(row("u:first", 10), row("u:second", 10));
        // What a pattern finds and another operand names is counted once, by the name that is written out.
        assertThat(rows(question("count", "u:" + once + ":also", "u:" + once + ":{first,none}", "--by", "probe")))
                .containsExactly(row("u:also", 10));
    }

    @Test
    void aFunctionOfAFileThatNoProcessRunsIsRefused() throws IOException, InterruptedException {
        byte[] bytes = Files.readAllBytes(program);
        bytes[16] = 4; // e_type, little-endian
        Path core = Files.write(folder.resolve("core"), bytes);
        assertThat(Cli.fail("count", core.toString(), "u:own")).contains(core + " at 0x10: is a core dump (ET_CORE)");
        assertThat(Cli.fail("count", core.toString(), "files:called")).contains("is a core dump (ET_CORE)");
    }

    /** -1 of an int does not fill the register, so a comparison of the register would count nothing. */
    @Test
    void aNegativeArgumentIsComparedByItsType() throws IOException, InterruptedException {
        Path source = Files.writeString(folder.resolve("negative.c"), """
                __attribute__((noinline)) int negative(int a) { __asm__ volatile(""); return a; }
                int main(void) { return negative(-1) + negative(1); }
                """);
        Path negative = folder.resolve("negative");
        Commands.check(List.of("gcc", "-O1", "-o", negative.toString(), source.toString()));
        String[] count = {"count", "-c", negative.toString(), "u:negative", "--where", "(int)arg0 == -1"};
        assertThat(Cli.run(count).out()).isEqualTo("1 event\n");
        count[5] = "arg0 == -1";
        assertThat(Cli.run(count).err()).contains("this compares a whole register", "(int)…");
        assertThat(Cli.run("latency", "-c", negative.toString(), "u:negative", "--where", "begin.arg0 == -1")
                        .err())
                .contains("this compares a whole register", "(int)…");
    }

    @Test
    void aScriptHasNoFunctions() throws IOException, InterruptedException {
        Path script = Files.writeString(folder.resolve("script"), "#!/bin/sh\n" + program + "\n");
        assertThat(script.toFile().setExecutable(true)).isTrue();
        assertThat(Cli.fail("count", "-c", script.toString(), "u:first"))
                .isEqualTo("bpf4j: " + script.toRealPath() + " is a script, which has no functions that can be probed:"
                        + " name the file of the function, a program or a library, as in u:FILE:first");
    }

    @Test
    void aFileBelongsToTheUsdtProbeThatItIsWrittenWith() throws IOException, InterruptedException {
        String first = "usdt:" + once + ":both:first";
        String second = "usdt:" + twice + ":both:second";
        assertThat(rows(question("count", first, second, "--by", "probe")))
                .containsExactlyInAnyOrder(row("both:first", 10), row("both:second", 20));
        assertThat(rows(question("count", first, twice.toString(), "both:second", "--by", "probe")))
                .containsExactlyInAnyOrder(row("both:first", 10), row("both:second", 30));
        Commands.Result none = Cli.run(question("count", first, "usdt:" + program + ":both:first"));
        assertThat(none.exitCode()).isEqualTo(1);
        assertThat(none.err()).contains("no probe both:first", program.toString());
    }

    /** The name with the file means all sites of that file, and the other name those in one function of any file. */
    @Test
    void aNameWithAFileAddsNoSitesToOtherFiles() throws IOException, InterruptedException {
        String ofTwice = "usdt:" + twice + ":each:call";
        assertThat(rows(question("count", "each::second:call", "--by", "probe")))
                .containsExactly(row("each:call", 10 + 20));
        assertThat(rows(question("count", once.toString(), "each::second:call", ofTwice, "--by", "probe")))
                .containsExactly(row("each:call", 10 + 20 + 20));
    }

    @Test
    void aFunctionThatIsNamedTwiceIsCountedOnce() throws IOException, InterruptedException {
        assertThat(rows(question("count", "u:" + once + ":first", "u:" + twice + ":first", "--by", "probe")))
                .containsExactly(row("u:first", 30));
        assertThat(rows(question("count", "u:" + once + ":first", "u:" + once + ":fir*", "--by", "probe")))
                .containsExactly(row("u:first", 10));
        assertThat(rows(question("count", "u:" + once + ":also", "u:" + once + ":*irst", "--by", "probe")))
                .containsExactly(row("u:also", 10));
    }

    @Test
    void aPairBeginsWithTheOperandThatComesFirst() throws IOException, InterruptedException {
        Commands.Result forth = Cli.run(question("latency", "u:own", "files:called"));
        assertThat(forth.out()).as(forth.err()).contains("\"count\":30").endsWith("""
                {"type":"end","events":30,"lost":0,"exact":true,"question":{"begin":"u:own","end":"files:called"}}
                """);
        Commands.Result back = Cli.run(question("latency", "files:called", "u:own"));
        assertThat(back.out()).as(back.err()).contains("\"count\":29").contains("\"unpaired_ends\":1");
    }

    @Test
    void theReturnIsThatOfTheEntrysFile() throws IOException, InterruptedException {
        Commands.Result answer = Cli.run(question("latency", "u:" + once + ":first"));
        assertThat(answer.out())
                .as(answer.err())
                .endsWith("{\"type\":\"end\",\"events\":10,\"lost\":0,\"exact\":true,"
                        + "\"question\":{\"begin\":\"u:first\",\"end\":\"ur:first\"}}\n");
    }

    /** As gcc names it, if it makes a version of a static function for calls with a constant argument. */
    @Test
    void otherVersionsOfAFunctionAreMentioned() throws IOException, InterruptedException {
        Path source = Files.writeString(folder.resolve("versions.c"), """
                #include <stdlib.h>
                __attribute__((noipa)) int work(int n) { return n + 1; }
                __attribute__((noipa)) int work_version(int n) { return n + 2; }
                __asm__(".globl work.constprop.0\\n.type work.constprop.0, %function\\n.set work.constprop.0, work_version");
                __attribute__((noipa)) int plain(int n) { return n + 3; }
                #define ODD "\\"odd{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}\\""
                __asm__(".globl " ODD "\\n.type " ODD ", %function\\n.set " ODD ", plain");
                int main(void) { int sum = 0; for (int i = 0; i < 5; i++) sum += work(i) + work_version(i) + plain(i); return sum == 0; }
                """);
        Path made = folder.resolve("versions");
        Commands.check(List.of("gcc", "-O1", "-o", made.toString(), source.toString()));
        Commands.Result one = Cli.run("count", "-c", made.toString(), "u:work");
        assertThat(one.out()).isEqualTo("5 events\n");
        assertThat(one.err()).contains("versions has work.constprop.0, a version of work that the compiler made");
        // The answer has each call of what was attached to; what was not is left out, and so no contradiction.
        assertThat(Cli.run("count", "-c", made.toString(), "u:work", "--json").out())
                .contains("\"exact\":true", "{\"kind\":\"left_out\",\"subject\":\"u:work.constprop.0\"")
                .doesNotContain("\"inexact\"");
        Commands.Result both = Cli.run("count", "-c", made.toString(), "u:work", "u:work.constprop.0");
        assertThat(both.out()).isEqualTo("10 events\n");
        assertThat(both.err()).doesNotContain("a version");
        Commands.Result odd = Cli.run("count", "-c", made.toString(), "u:od*");
        assertThat(odd.out())
                .as("a symbol may look like a pattern: %s", odd.err())
                .isEqualTo("5 events\n");
    }

    /** Calls functions of C++ five times each; one of them throws at the fourth call, which main catches. */
    private static Path cxxProgram() throws IOException, InterruptedException {
        Path source = Files.writeString(folder.resolve("shop.cc"), """
                #include <stdexcept>
                namespace shop {
                struct Cart { int items; };
                __attribute__((noipa)) int checkout(Cart &cart, long price) { return cart.items > 2 ? -1 : (int)price; }
                struct Order { int pay(int); long pay(long); };
                __attribute__((noipa)) int Order::pay(int x) { return x + 1; }
                __attribute__((noipa)) long Order::pay(long x) { return x + 2; }
                __attribute__((noipa)) int fails(int x) { if (x == 3) throw std::runtime_error("three"); return x; }
                }
                int main() {
                    shop::Cart cart;
                    shop::Order order;
                    long sum = 0;
                    for (int i = 0; i < 5; i++) {
                        cart.items = i;
                        sum += shop::checkout(cart, i) + order.pay(i) + order.pay((long)i);
                        try { sum += shop::fails(i); } catch (std::exception &) { sum++; }
                    }
                    return sum == 0;
                }
                """);
        Path made = folder.resolve("shop");
        Commands.check(List.of("g++", "-O2", "-o", made.toString(), source.toString()));
        return made;
    }

    @Test
    @Requires(GXX)
    void functionsOfCxxHaveTheirNamesInTheSource() throws IOException, InterruptedException {
        String shop = cxxProgram().toString();
        assertThat(rows("count", "--json", "-c", shop, "u:shop::*", "--by", "probe"))
                .containsExactlyInAnyOrder(
                        row("u:shop::checkout(shop::Cart&, long)", 5),
                        row("u:shop::Order::pay(int)", 5),
                        row("u:shop::Order::pay(long)", 5),
                        row("u:shop::fails(int)", 5));
        assertThat(rows("count", "--json", "-c", shop, "u:shop::Order::pay(long)", "--by", "probe"))
                .containsExactly(row("u:shop::Order::pay(long)", 5));
        assertThat(rows("count", "--json", "-c", shop, "u:shop::Order::pay", "u:_ZN4shop5Order3payEi", "--by", "arg1"))
                .as("each call once")
                .contains("{\"type\":\"row\",\"key\":{\"arg1\":4},\"count\":2}");
        Commands.Result latency = Cli.run("latency", "--json", "-c", shop, "u:shop::checkout");
        assertThat(latency.out())
                .as(latency.err())
                .contains("{\"type\":\"end\",\"events\":5,\"lost\":0,\"exact\":true");
        assertThat(Cli.fail("count", "-c", shop, "u:shop::chekout")).contains("the nearest is 'shop::checkout'");
        assertThat(Cli.fail("count", "-c", shop, "u:checkout")).contains("the nearest is 'shop::checkout'");
    }

    /** The kernel puts an address of its own in the place of the return address, so the exception finds no caller. */
    @Test
    @Requires(GXX)
    void whoProbesReturnsIsWarnedOfExceptions() throws IOException, InterruptedException {
        Path shop = cxxProgram();
        Commands.Result aborted = Cli.run("latency", "--json", "-c", shop.toString(), "u:shop::fails");
        assertThat(aborted.err())
                .contains("if an exception or a panic unwinds through a probed return of " + shop)
                .contains("the command ended with status 134, the status for SIGABRT: an exception may have unwound");
        // The part of it that throws is jumped to: to take the word at the stack pointer for a return address kills.
        Commands.Result entries = Cli.run("count", "--json", "-c", shop.toString(), "u:*fails*");
        assertThat(entries.err()).doesNotContain("exception");
        assertThat(entries.out()).contains("\"events\":5");
        Commands.Result ofC = Cli.run(question("latency", "u:own"));
        assertThat(ofC.err()).doesNotContain("exception");
    }

    /** A pattern is bounded, so that its parser needs no stack of any depth. */
    @ParameterizedTest
    @ValueSource(strings = {"count -c true u:", "count -c true ur:", "catalog ", "count -c true provider:"})
    void tooManyBracesAreWrongUsage(String command) throws IOException, InterruptedException {
        String[] words = (command + "{".repeat(120) + "a" + ",b}".repeat(120)).split(" ", -1);
        Commands.Result result = Cli.run(words);
        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err())
                .contains("braces are nested more than 100 deep")
                .doesNotContain("internal error");
    }

    /**
     * Names of two functions that differ in a byte which is not UTF-8: each is a row of its own, and can be asked for as it
     * is shown.
     */
    @Test
    void aNameThatIsNotUtf8KeepsItsBytes() throws IOException, InterruptedException {
        Path source = Files.writeString(folder.resolve("bytes.c"), """
            __attribute__((noipa)) int latin(int n) __asm__("na\\377me");
            __attribute__((noipa)) int other(int n) __asm__("na\\376me");
            int latin(int n) { return n + 1; }
            int other(int n) { return n + 2; }
            int main(void) {
                int sum = 0;
                for (int n = 0; n < 5; n++) sum += other(n) + (n < 3 ? latin(n) : 0);
                return sum == 0;
            }
            """);
        Path bytes = folder.resolve("bytes");
        Commands.check(List.of("gcc", "-O1", "-o", bytes.toString(), source.toString()));
        String[] both = {"count", "--json", "--by", "probe", "-c", bytes.toString(), "u:na?me"};
        String[] one = both.clone();
        one[one.length - 1] = "u:na\\xffme";
        List<String> filtered = new ArrayList<>(List.of(both));
        filtered.addAll(List.of("--where", "probe == \"u:na\\xfeme\""));
        String latin = row("u:na\\udcffme", 3);
        String other = row("u:na\\udcfeme", 5);
        assertThat(rows(both)).containsExactlyInAnyOrder(latin, other);
        assertThat(rows(one)).containsExactly(latin);
        assertThat(rows(filtered.toArray(String[]::new))).containsExactly(other);
        assertThat(Cli.run("count", "--by", "probe", "-c", bytes.toString(), "u:na?me")
                        .out())
                .contains("u:na\\xffme", "u:na\\xfeme");
        assertThat(Cli.run("stack", "--json", "-c", bytes.toString(), "u:na?me").out())
                .contains("\"na\\udcffme\"", "\"na\\udcfeme\"");
    }
}
