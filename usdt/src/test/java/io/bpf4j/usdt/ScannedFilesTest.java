package io.bpf4j.usdt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** From files to attachments: what is wrong with a file or with a site of it is said by whoever attaches. */
class ScannedFilesTest {
    private static final ByteOrder OTHER_ORDER =
            ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;

    private final ScriptedKernel kernel = new ScriptedKernel();

    @TempDir
    Path folder;

    @AfterEach
    void nothingStaysOpen() {
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void aSiteThatIsLeftOutIsToldToWhoeverAttaches() throws IOException {
        UsdtScan scan = scan(hosts().note("p", "half", "", 0x1010, 0)
                .note("p", "half", "", 0x9000, 0)
                .note("p", "whole", "", 0x1020, 0));
        UsdtProbe half = scan.matching("p:half").probes().getFirst();
        assertThat(half.sites()).hasSize(1);
        assertThat(half.problems()).singleElement().asString().contains("p:half is at 0x9000, outside of");
        try (BpfObject object = ScriptedUsdt.load(kernel, 8)) {
            Usdt usdt = Usdt.of(object);
            try (UsdtLink link = usdt.attach(object.program("on"), scan)) {
                assertThat(link.siteCount()).isEqualTo(2);
                assertThat(link.problems())
                        .singleElement()
                        .asString()
                        .startsWith(path(scan) + ": ")
                        .contains("p:half is at 0x9000");
            }
            AttachOptions strict = AttachOptions.defaults().withStrict(true);
            assertThatExceptionOfType(UsdtException.class)
                    .isThrownBy(() -> usdt.attach(object.program("on"), scan, strict))
                    .withMessageContaining("p:half is at 0x9000")
                    .withMessageContaining("refused because of the strict option");
            UsdtScan whole = scan.matching("p:whole");
            usdt.attach(object.program("on"), whole, strict).close();
        }
    }

    @Test
    void aProbeWithoutAnySoundSiteIsExplained() throws IOException {
        UsdtScan scan = scan(hosts().note("p", "bad", "", 0x9000, 0).note("p", "badly", "", 0x1010, 0));
        assertThat(scan.matching("p:bad").whyNone())
                .startsWith("no probe p:bad that can be used: " + path(scan) + ": ")
                .contains("p:bad is at 0x9000, outside of every executable");
        assertThat(scan.matching("p:badl").whyNone())
                .contains("the nearest is p:badly")
                .doesNotContain("0x9000");
    }

    @Test
    void functionsChooseSites() throws IOException {
        UsdtScan scan = scan(hosts().note("p", "n", "", 0x1010, 0)
                .note("p", "n", "", 0x1024, 0)
                .note("p", "n", "", 0x1030, 0)
                .note("p", "n", "", 0x1800, 0)
                .symbol("data", 0x1023, 1)
                .symbol("first", 0x100c, 2)
                .symbol("alias_of_second", 0x1024, 2)
                .symbol("second", 0x1024, 0x12)
                .symbol("third", 0x1030, 2));
        assertThat(scan.files().getFirst().functions()).isEqualTo(Map.of(0x1024L, "second", 0x1030L, "third"));
        assertThat(sites(scan, "p:::n")).containsExactly(0x1010L, 0x1024L, 0x1030L, 0x1800L);
        assertThat(sites(scan, "p:file:sec*:n")).containsExactly(0x1024L);
        assertThat(sites(scan, "p:file:alias_of_second:n")).containsExactly(0x1024L);
        assertThat(sites(scan, "file:{second,third}:n")).containsExactly(0x1024L, 0x1030L);
        assertThat(scan.matching("p::main:n").probes()).isEmpty();
        assertThat(scan.matching(List.of(ProbePattern.parse("p::second:n"), ProbePattern.parse("p:n")))
                        .probes())
                .isEqualTo(scan.probes());
        assertThat(scan.matching("p::main:n").whyNone()).contains("no probe p:*:main:n", "but not in this module");
    }

    /** The symbols of a process's file are read within the same limits as its notes. */
    @Test
    void functionsOfAProcessAreLimited() throws IOException {
        String name = "f".repeat((1 << 16) + 1);
        UsdtScan scan = scan(
                hosts().note("p", "n", "", 0x1010, 0).symbol(name, 0x100c, 2).symbol("g", 0x1010, 2));
        UsdtScan.File file = scan.files().getFirst();
        assertThat(file.functions()).containsValue("g");
        UsdtScan.File mapped = file.withPids(List.of(1));
        assertThatExceptionOfType(MalformedDataException.class)
                .isThrownBy(mapped::functions)
                .withMessageContaining("65536");
    }

    @Test
    void functionsAreThoseOfTheScannedFile() throws IOException {
        UsdtScan scan = scan(hosts().note("p", "n", "", 0x1010, 0).symbol("first", 0x100c, 2));
        UsdtScan.File file = scan.files().getFirst();
        Files.write(file.path(), new byte[] {0}, StandardOpenOption.APPEND);
        assertThatIOException()
                .isThrownBy(file::functions)
                .withMessage(file.path() + " was replaced or written after its probes were read");
        Files.delete(file.path());
        assertThatIOException()
                .isThrownBy(file::functions)
                .withMessageContaining(file.path().toString());
        Files.createDirectory(file.path());
        assertThatIOException().isThrownBy(file::functions).withMessageContaining("not a regular file");
    }

    private static List<Long> sites(UsdtScan scan, String pattern) {
        return scan.matching(pattern).probes().getFirst().sites().stream()
                .map(UsdtSite::address)
                .toList();
    }

    static Stream<Arguments> filesThatNobodyRunsHere() {
        boolean little = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
        int here = hosts().machine();
        return Stream.of(
                arguments(hosts().type(1), "is an object file (ET_REL)"),
                arguments(hosts().type(4), "is a core dump (ET_CORE)"),
                arguments(hosts().type(0), "is neither a program nor a library (ELF type 0)"),
                arguments(hosts().type(0xfe00), "is neither a program nor a library (ELF type 65024)"),
                arguments(new StapsdtElf(true, OTHER_ORDER, here), "other byte order"),
                arguments(
                        new StapsdtElf(true, ByteOrder.nativeOrder(), 8), "is compiled for mips, and this machine is"),
                arguments(
                        new StapsdtElf(true, little ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN, little ? 22 : 62),
                        little ? "is compiled for s390" : "is compiled for x86_64"));
    }

    @ParameterizedTest
    @MethodSource
    void filesThatNobodyRunsHere(StapsdtElf file, String reason) throws IOException {
        UsdtScan scan = scan(file.note("p", "n", "8@somewhere", 0x1010, 0));
        assertThat(scan.probes())
                .singleElement()
                .satisfies(p -> assertThat(p.sites()).hasSize(1));
        try (BpfObject object = ScriptedUsdt.load(kernel, 8)) {
            assertThatExceptionOfType(UsdtException.class)
                    .isThrownBy(() -> Usdt.of(object).attach(object.program("on"), scan))
                    .withMessageStartingWith("attach p:n in " + path(scan) + ": ")
                    .withMessageContaining(reason);
            assertThat(kernel.commands(LinkCommand.Create.class)).isEmpty();
        }
    }

    /** A file for the machine that this runs on. */
    private static StapsdtElf hosts() {
        int machine = switch (Machine.ofHost()) {
            case AARCH64 -> 183;
            case RISCV64 -> 243;
            case S390X -> 22;
            case PPC64LE -> 21;
            case LOONGARCH64 -> 258;
            default -> 62;
        };
        return new StapsdtElf(true, ByteOrder.nativeOrder(), machine);
    }

    private static Path path(UsdtScan scan) {
        return scan.files().getFirst().path();
    }

    private UsdtScan scan(StapsdtElf file) throws IOException {
        UsdtScan scan = UsdtScan.ofFile(Files.write(folder.resolve("file"), file.build()));
        kernel.answer(
                FileCommand.Identify.class,
                _ -> scan.probes().getFirst().binary().identity());
        return scan;
    }
}
