package io.bpf4j.trace.stack;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.map.StackTraceMap;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes and files are made by the test: their mappings in a folder in the place of {@code /proc}. */
class SymbolizerTest {
    private static final int PID = 7;
    private static final long START = 0x7f0000001000L;
    private static final byte[] ID = HexFormat.of().parseHex("0123456789abcdef0123456789abcdef01234567");

    @TempDir
    Path directory;

    private Path library = Path.of("");
    private Symbolizer symbolizer = Symbolizer.of(Host.running());

    @BeforeEach
    void makeProcess() throws IOException {
        library = Files.write(
                directory.resolve("libx.so"),
                new SmallElf()
                        .local("inner", 0x3010, 0x10)
                        .local("_ZN3foo3barEi", 0x3100, 0x20)
                        .local("versioned@@V_1", 0x3200, 0x10)
                        .exported("exported", 0x3300, 0x10)
                        .buildId(ID)
                        .build());
        Files.createDirectories(directory.resolve("proc/7/root/tmp"));
        Files.writeString(directory.resolve("proc/7/status"), "Name:\tx\nUid:\t" + uid() + "\t" + uid() + "\t0\t0\n");
        maps(line(START, library));
        symbolizer = Symbolizer.of(
                Host.running().withProc(directory.resolve("proc")), new DebugFiles(directory.resolve("debug")));
    }

    @AfterEach
    void close() {
        symbolizer.close();
    }

    @Test
    void aFunctionIsNamedByTheFileThatIsMappedThere() {
        Frame frame = user(START + 0x12);
        assertThat(frame.function()).isEqualTo("inner");
        assertThat(frame.symbol()).isEqualTo("inner");
        assertThat(frame.offset()).isEqualTo(2);
        assertThat(frame.module()).isEqualTo(library.toString());
        assertThat(frame.source()).isEqualTo(Frame.Source.SYMBOLS);
        assertThat(frame.address()).isEqualTo(START + 0x12);
        assertThat(user(START + 0x305).source()).isEqualTo(Frame.Source.DYNAMIC_SYMBOLS);
        assertThat(symbolizer.problems()).isEmpty();
    }

    @Test
    void namesAreDemangledAndHaveNoVersions() {
        assertThat(user(START + 0x100).function()).isEqualTo("foo::bar");
        assertThat(user(START + 0x100).symbol()).isEqualTo("_ZN3foo3barEi");
        assertThat(user(START + 0x200).function()).isEqualTo("versioned");
    }

    @Test
    void betweenFunctionsOnlyTheFileIsKnown() {
        Frame frame = user(START + 0x80);
        assertThat(frame).hasToString("[libx.so+0x3080]");
        assertThat(frame.source()).isEqualTo(Frame.Source.MAPPING);
        assertThat(frame.isNamed()).isFalse();
        assertThat(user(0x1234_5000)).hasToString("[unknown]");
        assertThat(user(0)).hasToString("[unknown]");
        assertThat(user(-1)).hasToString("[unknown]");
    }

    /** A call may be the last instruction of a function that never returns from it. */
    @Test
    void aReturnAddressIsLookedUpBeforeItself() {
        assertThat(symbolizer.user(PID, new long[] {START + 0x300, START + 0x20}))
                .extracting(Frame::function)
                .containsExactly("exported", "inner");
        assertThat(symbolizer
                        .user(PID, new long[] {START + 0x300, START + 0x300})
                        .get(1))
                .as("of a signal handler's caller")
                .extracting(Frame::function)
                .isEqualTo("exported");
    }

    /** Another user's process may make each reading take seconds. */
    @Test
    void mappingsThatAreTooManyAreReadOnce() throws IOException {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 300; i++) {
            long start = START + i * 0x10000L;
            lines.append(String.format("%x-%x r-xp 0 08:01 5 /%s%d%n", start, start + 0x1000, "x".repeat(4000), i));
        }
        maps(lines.toString());
        assertThat(symbolizer.isJvm(PID)).isFalse();
        maps(line(START, library));
        for (int i = 0; i < 5000; i++) {
            assertThat(user(START + 0x12)).hasToString("[unknown]");
        }
        symbolizer.remember(PID);
        assertThat(symbolizer.isJvm(PID)).isFalse();
        assertThat(user(START + 0x12)).hasToString("[unknown]");
        assertThat(symbolizer.problems()).singleElement().asString().contains("process 7 is left out: the names of");
    }

    /** They name the first stack, too: another user's process may make each reading take a second. */
    @Test
    void mappingsThatToldWhetherItIsAJvmAreReadOnce() throws IOException {
        assertThat(symbolizer.isJvm(PID)).isFalse();
        maps(""); // who reads them again finds nothing
        assertThat(user(START + 0x10)).hasToString("inner");
        symbolizer.prepare(Map.of(PID, List.of(List.of(new StackTraceMap.Address(START + 0x110)))));
        assertThat(user(START + 0x110)).hasToString("foo::bar");

        Path jvm = Files.copy(library, directory.resolve("libjvm.so"));
        maps(line(START, jvm));
        assertThat(symbolizer.isJvm(PID)).as("after exec of a JVM").isTrue();
        maps("");
        assertThat(user(START + 0x10).module()).as("the newer mapping").isEqualTo(jvm.toString());
        assertThat(symbolizer.isJvm(PID)).as("of what it has mapped now").isFalse();
        assertThat(user(START + 0x10)).as("unmapped meanwhile").hasToString("inner");
        assertThat(symbolizer.problems()).isEmpty();
    }

    /** A process may have mapped more between the look whether it is a JVM and its first stack, or have ended. */
    @Test
    void whatIsMappedAfterTheLookForAJvmIsFound() throws IOException {
        long later = 0x7f0000100000L;
        assertThat(symbolizer.isJvm(PID)).isFalse();
        maps(line(START, library) + line(later, library));
        assertThat(user(later + 0x10)).hasToString("inner");
        assertThat(symbolizer.isJvm(8)).as("no such process").isFalse();
        assertThat(symbolizer.user(8, new long[] {START + 0x10})).hasToString("[[unknown]]");
        assertThat(symbolizer.problems())
                .extracting(Diagnostic::message)
                .containsExactly("process 8 ended before bpf4j looked up the names of its stacks");
    }

    /** Names are bytes: what a name has before its last part decides nothing, and neither does a deleted file. */
    @Test
    void aJvmIsKnownByTheLastPartOfAName() throws IOException {
        Map<String, Boolean> names = Map.of(
                "/x/libjvm.so", true,
                "/x/libjvm.so (deleted)", true,
                "/x\\012\u001b/libjvm.so", true,
                "/libjvm.so", true,
                "/x/xlibjvm.so", false,
                "/x/libjvm.so.1", false,
                "libjvm.so", false,
                "/libjvm.so (deleted) (deleted)", false);
        for (Map.Entry<String, Boolean> name : names.entrySet()) {
            maps("5000-6000 r-xp 0 08:01 5 " + name.getKey() + "\n");
            assertThat(symbolizer.isJvm(PID)).as(name.getKey()).isEqualTo(name.getValue());
        }
        maps("5000-6000 r--p 0 08:01 5 /libjvm.so\n");
        assertThat(symbolizer.isJvm(PID)).as("not as code").isFalse();
        maps("5000-6000 r-xp 0 00:00 0 /libjvm.so\n");
        assertThat(symbolizer.isJvm(PID)).as("not a file").isFalse();
    }

    @Test
    void aLibraryThatIsLoadedLaterIsFound() throws IOException {
        long later = 0x7f0000100000L;
        assertThat(user(later + 0x10)).hasToString("[unknown]");
        maps(line(START, library) + line(later, library));
        assertThat(user(START + 0x10)).hasToString("inner");
        assertThat(List.of(user(later + 0x10), user(later + 0x10)))
                .as("after one more miss at most")
                .last()
                .hasToString("inner");
    }

    @Test
    void aProcessThatHasEndedKeepsWhatWasRead() throws IOException {
        assertThat(user(START + 0x10)).hasToString("inner");
        Files.delete(directory.resolve("proc/7/maps"));
        Files.delete(library);
        assertThat(user(START + 0x110)).hasToString("foo::bar");
        assertThat(user(0x5555_0000)).hasToString("[unknown]");
        assertThat(user(START + 0x10)).hasToString("inner");
        assertThat(symbolizer.user(8, new long[] {START})).hasToString("[[unknown]]");
        assertThat(symbolizer.problems())
                .extracting(Diagnostic::message)
                .containsExactly("process 8 ended before bpf4j looked up the names of its stacks");
    }

    /** The innermost address is that of a probe, so it tells where the process had mapped the probe's file. */
    @Test
    void aProcessThatIsGoneHasTheNamesOfTheFilesWithTheProbes() throws IOException {
        symbolizer.probesAt(library, List.of(0x1010L));
        assertThat(symbolizer.user(8, new long[] {START + 0x10, START + 0x111, 0x5555_0000, START + 0x301}))
                .hasToString("[inner, foo::bar, [unknown], exported]");
        symbolizer.user(9, new long[] {START + 0x10});
        assertThat(symbolizer.user(10, new long[] {START + 0x11}))
                .as("at no probe")
                .hasToString("[[unknown]]");
        assertThat(symbolizer.problems())
                .extracting(Diagnostic::message)
                .containsExactly(
                        "process 10 ended before bpf4j looked up the names of its stacks",
                        "2 processes ended before bpf4j looked up the names of their stacks: only functions of the files"
                                + " with the probes have names");
    }

    /** Pages are what is mapped, so two probes at the same place of a page can't be told apart. */
    @Test
    void whatTwoProbesExplainStaysUnknown() throws IOException {
        Path other = Files.write(
                directory.resolve("liby.so"),
                new SmallElf().local("other", 0x3010, 0x10).build());
        symbolizer.probesAt(library, List.of(0x1010L, 0x1100L));
        symbolizer.probesAt(other, List.of(0x1010L));
        assertThat(symbolizer.user(8, new long[] {START + 0x10})).hasToString("[[unknown]]");
        symbolizer.prepare(Map.of(9, List.of(addresses(START + 0x10), addresses(START + 0x100))));
        assertThat(symbolizer.user(9, new long[] {START + 0x10}))
                .as("another stack has shown where the file is")
                .hasToString("[inner]");
    }

    private static List<StackTraceMap.Frame> addresses(long... addresses) {
        return Arrays.stream(addresses)
                .<StackTraceMap.Frame>mapToObj(StackTraceMap.Address::new)
                .toList();
    }

    @Test
    void whatIsRememberedNeedsNoProcess() throws IOException {
        maps(line(START, library) + "5000-6000 rwxp 00000000 00:00 0 \n");
        Files.writeString(directory.resolve("proc/7/root/tmp/perf-7.map"), "5000 10 compiled\n");
        symbolizer.remember(PID);
        Files.delete(directory.resolve("proc/7/maps"));
        Files.delete(directory.resolve("proc/7/status"));
        Files.delete(library);
        assertThat(symbolizer.user(PID, new long[] {START + 0x10, START + 0x111, 0x5002}))
                .hasToString("[inner, foo::bar, compiled]");
        assertThat(symbolizer.problems()).isEmpty();
        symbolizer.remember(8);
        assertThat(symbolizer.problems())
                .extracting(Diagnostic::message)
                .containsExactly("process 8 ended before bpf4j looked up the names of its stacks");
    }

    @Test
    void whatWasUnmappedStaysKnown() throws IOException {
        assertThat(user(START + 0x10)).hasToString("inner");
        maps("");
        user(0x5555_0000);
        assertThat(user(START + 0x10)).hasToString("inner");
        Path other = Files.write(
                directory.resolve("liby.so"),
                new SmallElf().local("other", 0x3000, 0x100).build());
        maps(line(START, other));
        for (int i = 0; i < 8; i++) {
            user(0x5555_0000);
        }
        assertThat(user(START + 0x10)).as("where something else is now").hasToString("other");
    }

    @Test
    void placesInFilesAreFoundByBuildId() throws IOException {
        String id = HexFormat.of().formatHex(ID);
        List<StackTraceMap.Frame> stack =
                List.of(new StackTraceMap.InFile(id, 0x1010), new StackTraceMap.Address(START + 0x105));
        assertThat(symbolizer.user(PID, stack)).hasToString("[inner, foo::bar]");
        Files.delete(directory.resolve("proc/7/maps"));
        assertThat(symbolizer.user(8, stack)).hasToString("[inner, [unknown]]");
        assertThat(symbolizer.user(PID, List.of(new StackTraceMap.InFile("00", 0x1010))))
                .hasToString("[[build-id 00+0x1010]]");
    }

    @Test
    void aDebugFileNamesTheFunctionsOfAStrippedOne() throws IOException {
        Files.write(
                library,
                new SmallElf().exported("exported", 0x3300, 0x10).buildId(ID).build());
        maps(line(START, library));
        Path debug = directory.resolve("debug/.build-id/01/23456789abcdef0123456789abcdef01234567.debug");
        Files.createDirectories(debug.getParent());
        Files.write(
                debug, new SmallElf().local("hidden", 0x3010, 0x10).buildId(ID).build());
        Frame frame = user(START + 0x10);
        assertThat(frame.function()).isEqualTo("hidden");
        assertThat(frame.source()).isEqualTo(Frame.Source.DEBUG_FILE);
    }

    @Test
    void aBrokenFileIsNamedAsAModule() throws IOException {
        byte[] broken = new SmallElf().local("inner", 0x3010, 0x10).build();
        broken[0x8000 + 64 * 2 + 40] = 77; // the string table of the symbols
        Files.write(library, broken);
        maps(line(START, library));
        assertThat(user(START + 0x10)).hasToString("[libx.so+0x3010]");
        assertThat(symbolizer.problems()).singleElement().asString().startsWith(library + ": ");
        Path text = Files.writeString(directory.resolve("text"), "no ELF file");
        maps(line(START + 0x100000, text));
        user(START + 0x100010);
        assertThat(user(START + 0x100010)).hasToString("[text+0x1010]");
    }

    @Test
    void aFileThatCantBeOpenedIsAProblem() throws IOException {
        maps("1000-2000 r-xp 00001000 00:01 99 /no/such.so\n");
        assertThat(user(0x1010)).hasToString("[such.so+0x1010]");
        assertThat(symbolizer.problems()).singleElement().asString().startsWith("/no/such.so: ");
    }

    /** More functions than are kept of a file: it is read again for what is needed, also after the process has ended. */
    @Test
    void theFunctionsOfALargeFileAreFoundByNeed() throws IOException {
        Files.write(library, large().build());
        assertThat(user(START + 0x12).function()).isEqualTo("inner");
        assertThat(user(START + 0x12).offset()).isEqualTo(2);
        symbolizer.remember(PID);
        Files.delete(directory.resolve("proc/7/maps"));
        Files.delete(library);
        assertThat(user(START + 0x100).function()).isEqualTo("foo::bar");
        assertThat(user(START + 0x80)).hasToString("[libx.so+0x3080]");
        assertThat(symbolizer.problems()).isEmpty();
    }

    @Test
    void allStacksOfALargeFileAreOneReading() throws IOException {
        SmallElf elf = large();
        Files.write(library, elf.build());
        SymbolBudget budget = new SymbolBudget(3 * (elf.count() + 3L));
        symbolizer = Symbolizer.of(
                Host.running().withProc(directory.resolve("proc")), new DebugFiles(directory.resolve("debug")), budget);
        symbolizer.prepare(Map.of(PID, List.of(stack(START + 0x12), stack(START + 0x100), stack(START + 0x200))));
        assertThat(user(START + 0x12).function()).isEqualTo("inner");
        assertThat(user(START + 0x100).function()).isEqualTo("foo::bar");
        assertThat(user(START + 0x200).function()).isEqualTo("versioned");
        assertThat(symbolizer.problems()).isEmpty();
        // One reading found that the file is large, one found these functions; the third has no symbols left.
        assertThat(user(START + 0x13).function()).isEqualTo("inner");
        assertThat(user(START + 0x14).isNamed()).isFalse();
        assertThat(symbolizer.problems()).singleElement().asString().contains("libx.so: ", "have no names", "symbols");
    }

    /** A file that is written all the time would be read again for each process. */
    @Test
    void aFileThatIsWrittenIsReadOnce() throws IOException {
        Files.createDirectories(directory.resolve("proc/8"));
        Files.copy(directory.resolve("proc/7/maps"), directory.resolve("proc/8/maps"));
        Files.copy(directory.resolve("proc/7/status"), directory.resolve("proc/8/status"));
        assertThat(user(START + 0x12).function()).isEqualTo("inner");
        Files.setLastModifiedTime(library, FileTime.fromMillis(1_000));
        assertThat(symbolizer.user(8, new long[] {START + 0x12}).getFirst()).hasToString("[libx.so+0x1012]");
        assertThat(user(START + 0x12).function()).isEqualTo("inner");
        assertThat(symbolizer.problems())
                .extracting(Diagnostic::message)
                .containsExactly(library + ": was written while its symbols were read; its functions have no names");
    }

    /** Files are many, and none is closed while it is still needed: each without names has the true reason. */
    @Test
    void moreFilesThanAreKeptOpen() throws IOException {
        int count = 150;
        StringBuilder lines = new StringBuilder();
        List<List<StackTraceMap.Frame>> stacks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long start = START + i * 0x10_0000L;
            Path copy = Files.copy(library, directory.resolve("lib" + i + ".so"));
            lines.append(line(start, copy));
            stacks.add(stack(start + 0x12));
        }
        maps(lines.toString());
        symbolizer = withBudget(new SymbolBudget(1));
        symbolizer.prepare(Map.of(PID, stacks));
        List<Diagnostic> problems = symbolizer.problems();
        assertThat(problems.subList(0, 100))
                .allSatisfy(problem -> assertThat(problem.message()).contains("more than", "symbols"));
        assertThat(problems.subList(100, problems.size()))
                .singleElement()
                .hasToString("there are further reasons why functions have no names: " + (count - 100));
        symbolizer = withBudget(new SymbolBudget());
        symbolizer.prepare(Map.of(PID, stacks));
        for (int i = 0; i < count; i++) {
            assertThat(user(START + i * 0x10_0000L + 0x12).function()).isEqualTo("inner");
        }
        assertThat(symbolizer.problems()).isEmpty();
    }

    /** Processes that appear one after the other have one budget together. */
    @Test
    void rememberedProcessesShareTheBudget() throws IOException {
        Files.createDirectories(directory.resolve("proc/8"));
        Path other = Files.copy(library, directory.resolve("liby.so"));
        Files.writeString(directory.resolve("proc/8/maps"), line(START, other));
        Files.copy(directory.resolve("proc/7/status"), directory.resolve("proc/8/status"));
        SymbolBudget budget = new SymbolBudget(10);
        symbolizer = withBudget(budget);
        symbolizer.remember(PID);
        symbolizer.remember(8);
        assertThat(budget.take(3)).as("each file has 5 symbols").isFalse();
    }

    private Symbolizer withBudget(SymbolBudget budget) {
        symbolizer.close();
        return Symbolizer.of(
                Host.running().withProc(directory.resolve("proc")), new DebugFiles(directory.resolve("debug")), budget);
    }

    private static List<StackTraceMap.Frame> stack(long address) {
        return List.of(new StackTraceMap.Address(address));
    }

    private static SmallElf large() {
        SmallElf elf = new SmallElf()
                .local("inner", 0x3010, 0x10)
                .local("_ZN3foo3barEi", 0x3100, 0x20)
                .local("versioned@@V_1", 0x3200, 0x10)
                .exported("exported", 0x3300, 0x10);
        for (int i = 0; i < 70_000; i++) {
            elf.local("f" + i, 0x100_0000 + 16L * i, 16);
        }
        return elf;
    }

    @Test
    void compiledCodeIsNamedByTheCompilersList() throws IOException {
        maps("5000-6000 rwxp 00000000 00:00 0 \n7000-8000 r-xp 00000000 00:00 0 [vdso]\n");
        Path list = directory.resolve("proc/7/root/tmp/perf-7.map");
        Files.writeString(list, "5000 10 int Foo.bar()\n");
        Frame frame = user(0x5008);
        assertThat(frame).hasToString("int Foo.bar()");
        assertThat(frame.source()).isEqualTo(Frame.Source.PERF_MAP);
        assertThat(user(0x5100)).hasToString("[unknown]");
        assertThat(user(0x7100)).hasToString("[vdso+0x100]");
        Files.writeString(list, "5000 10 int Foo.bar()\n5100 10 later\n");
        for (int i = 0; i < 8; i++) {
            user(0x5200);
        }
        assertThat(user(0x5100)).hasToString("later");
    }

    @Test
    void kernelFunctionsHaveTheirModule() throws IOException {
        Files.writeString(directory.resolve("proc/kallsyms"), """
                0000000000000000 A hidden
                ffffffff81000000 T _stext
                ffffffff81000100 t local_one
                ffffffff81000100 T exported_one
                ffffffff81000180 d data
                ffffffff81000200 t _RNvNtCs1234_6kernel5print3foo
                ffffffffc0001000 t ext4_sync_file\t[ext4]
                """);
        assertThat(symbolizer.kernel(new long[] {
                    0xffffffff81000104L,
                    0xffffffff81000100L,
                    0xffffffff81000208L,
                    0xffffffffc0001010L,
                    0xffff000000000000L,
                    0x1000
                }))
                .extracting(Frame::label)
                .containsExactly(
                        "exported_one",
                        "_stext",
                        "kernel::print::foo",
                        "ext4_sync_file [ext4]",
                        "[unknown]",
                        "[unknown]");
        assertThat(symbolizer.problems()).isEmpty();
    }

    @Test
    void aKernelThatHidesItsAddressesIsAProblem() throws IOException {
        Files.writeString(directory.resolve("proc/kallsyms"), "0000000000000000 T _stext\n");
        assertThat(symbolizer.kernel(List.of(new StackTraceMap.Address(0xffffffff81000104L))))
                .hasToString("[[unknown]]");
        assertThat(symbolizer.problems()).singleElement().asString().contains("CAP_SYSLOG");
    }

    @Test
    void stacksWithoutFramePointersEndEarly() {
        assertThat(symbolizer.endsEarly(PID, new long[] {START + 0x10})).isTrue();
        assertThat(symbolizer.endsEarly(PID, new long[] {START + 0x10, 0x123456}))
                .isTrue();
        assertThat(symbolizer.endsEarly(PID, new long[] {START + 0x10, START + 0x110}))
                .isFalse();
        assertThat(symbolizer.endsEarly(PID, new long[] {START + 0x10, START + 0x110, 0x123456}))
                .isTrue();
        long[] longer = {START + 0x10, START + 0x110, START + 0x210, 0x123456};
        assertThat(symbolizer.endsEarly(PID, longer)).isFalse();
        assertThat(symbolizer.endsEarly(8, new long[] {START, START}))
                .as("of a process that can't be read")
                .isFalse();
    }

    /** The kernel took something else for a frame pointer, and went on in a table of functions. */
    @Test
    void whatFollowsAFrameOutsideOfCodeIsNoCaller() {
        List<Frame> frames = symbolizer.user(PID, new long[] {START + 0x10, START + 0x110, 0x123456, START + 0x210});
        assertThat(frames).extracting(Frame::address).containsExactly(START + 0x10, START + 0x110, 0x123456L);
        assertThat(frames.getLast().isNamed()).isFalse();
        assertThat(symbolizer.endsEarly(PID, new long[] {START + 0x10, 0x123456, START + 0x210, START + 0x110}))
                .isTrue();
    }

    private Frame user(long address) {
        return symbolizer.user(PID, new long[] {address}).getFirst();
    }

    private void maps(String... lines) throws IOException {
        Files.writeString(directory.resolve("proc/7/maps"), String.join("", lines));
    }

    private static String line(long start, Path file) throws IOException {
        FileIdentity identity = FileIdentity.of(file);
        long major = (identity.device() >>> 8 & 0xfff) | (identity.device() >>> 32 & ~0xfffL);
        long minor = (identity.device() & 0xff) | (identity.device() >>> 12 & 0xffffff00L);
        return Long.toHexString(start) + "-" + Long.toHexString(start + 0x1000) + " r-xp 00001000 "
                + Long.toHexString(major) + ":" + Long.toHexString(minor) + " " + identity.inode() + "    " + file
                + "\n";
    }

    private int uid() throws IOException {
        return (Integer) Files.getAttribute(directory, "unix:uid");
    }
}
