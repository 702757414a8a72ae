package io.bpf4j.usdt.internal.note;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.usdt.RunSeed;
import io.bpf4j.usdt.StapsdtElf;
import io.bpf4j.usdt.site.Machine;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StapsdtReaderTest {
    /** For what would take hours. A million notes take seconds on an idle machine, and minutes on a busy one. */
    private static final Duration BOUND = Duration.ofMinutes(20);

    @ParameterizedTest
    @CsvSource({"true,true", "true,false", "false,true", "false,false"})
    void readsNotesOfBothClassesAndOrders(boolean is64, boolean little) {
        ByteOrder order = little ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
        NoteScan scan = read(new StapsdtElf(is64, order, is64 ? 62 : 3)
                .note("provider", "one", "-4@%eax 8@-24(%rbp)", 0x1010, 0)
                .note("provider", "two", "", 0x1fff, 0x5002));
        assertThat(scan.problems()).isEmpty();
        assertThat(sites(scan))
                .containsExactly(
                        new NoteSite("provider", "one", "-4@%eax 8@-24(%rbp)", 0x1010, 0x1010, 0, 0),
                        new NoteSite("provider", "two", "", 0x1fff, 0x1fff, 0x5002, 0x3002));
    }

    @Test
    void anExecutableAtFixedAddressesHasFileOffsetsToo() {
        assertThat(sites(read(StapsdtElf.x86_64().type(2).note("p", "n", "", 0x1010, 0x5000))))
                .containsExactly(new NoteSite("p", "n", "", 0x1010, 0x1010, 0x5000, 0x3000));
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void prelinkMovesProbeAndSemaphoreAlike(boolean is64) {
        // The file was linked 0x100000 lower (or, wrapping, higher) than it is now.
        long moved = 0x100000;
        NoteScan scan = read(new StapsdtElf(is64, ByteOrder.LITTLE_ENDIAN, 62)
                .baseAt(StapsdtElf.BASE)
                .note("p", "still", "", 0x1010, 0x5000));
        assertThat(sites(scan)).hasSize(1);
        scan = read(new StapsdtElf(is64, ByteOrder.LITTLE_ENDIAN, 62)
                .baseAt(StapsdtElf.BASE + moved)
                .note("p", "moved", "", 0x1010 - moved, 0x5004 - moved)
                .note("p", "none", "", 0x1020 - moved, 0));
        assertThat(scan.problems()).isEmpty();
        assertThat(sites(scan))
                .containsExactly(
                        new NoteSite("p", "moved", "", 0x1010, 0x1010, 0x5004, 0x3004),
                        new NoteSite("p", "none", "", 0x1020, 0x1020, 0, 0));
    }

    @ParameterizedTest
    @CsvSource({"0, 0x1f00", "0x101f00, 0", "0, 0"})
    void aBaseAtAddress0MovesNothing(String now, String linked) {
        NoteScan scan = read(StapsdtElf.x86_64()
                .baseAt(Long.decode(now))
                .linkedWithBaseAt(Long.decode(linked))
                .note("p", "n", "", 0x1010, 0x5000));
        assertThat(scan.problems()).isEmpty();
        assertThat(sites(scan)).containsExactly(new NoteSite("p", "n", "", 0x1010, 0x1010, 0x5000, 0x3000));
    }

    @Test
    void anOwnerWithoutItsNulCounts() {
        byte[] description = new byte[32];
        ByteBuffer.wrap(description)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(0x1010)
                .putLong(StapsdtElf.BASE)
                .putLong(0)
                .put("p\0n\0\0".getBytes(StandardCharsets.US_ASCII));
        NoteScan scan = read(StapsdtElf.x86_64()
                .note(7, 32, 3, "stapsdt", description)
                .note(7, 32, 3, "stapsdX", description)
                .note(6, 32, 3, "stapsd", description)
                .note(9, 32, 3, "stapsdt\0", description));
        assertThat(sites(scan)).containsExactly(new NoteSite("p", "n", "", 0x1010, 0x1010, 0, 0));
    }

    @Test
    void anObjectFileHasNotesAndNoPlaces() {
        NoteScan scan = read(StapsdtElf.x86_64().type(1).note("p", "n", "8@%rax", 0x10, 0x20));
        assertThat(scan.problems()).isEmpty();
        assertThat(sites(scan)).containsExactly(new NoteSite("p", "n", "8@%rax", 0x10, 0, 0x20, 0));
    }

    /** As lld lays out what becomes read-only and the rest: both in page 0x3000 of the file. */
    @Test
    void aSemaphoreThatTwoSegmentsMapIsToldAndStays() {
        NoteScan scan = read(StapsdtElf.x86_64()
                .segment(6, 0x3100, 0x6100, 0x80)
                .note("p", "alone", "", 0x1010, 0x5000)
                .note("p", "shared", "", 0x1020, 0x6110)
                .note("p", "none", "", 0x1030, 0));
        assertThat(sites(scan)).extracting(NoteSite::name).containsExactly("alone", "shared", "none");
        assertThat(scan.problems())
                .singleElement()
                .asString()
                .contains("p:shared has its semaphore at 0x6110", "segment at 0x5000", "may increment");
        assertThat(scan.problems())
                .extracting(Diagnostic::kind, Diagnostic::subject)
                .containsExactly(tuple(Kind.MAY_NOT_FIRE, "p:shared"));
        assertThat(scan.probes())
                .filteredOn(probe -> !probe.problems().isEmpty())
                .extracting(NoteScan.Probe::name)
                .containsExactly("shared");
    }

    @Test
    void theBadSitesOfAProbeAreKnownBeyondTheLimitToo() {
        StapsdtElf file = StapsdtElf.x86_64().note("p", "n", "", 0x1010, 0);
        for (int i = 0; i < NoteLimits.MAX_PROBLEMS; i++) {
            file.note("p", "other", "", 0x9000, 0);
        }
        NoteScan scan = read(file.note("p", "n", "", 0x9000, 0).note("p", "n", "", 0x9001, 0));
        assertThat(scan.problems()).hasSize(NoteLimits.MAX_PROBLEMS + 1);
        assertThat(scan.probes())
                .singleElement()
                .satisfies(probe -> assertThat(probe.problems())
                        .containsExactly(
                                new Diagnostic(Kind.LEFT_OUT, "p:n", "test: p:n has 2 more sites that can't be used")));
    }

    @Test
    void aBadNoteIsReportedAndTheGoodOnesStay() {
        byte[] unterminated = new byte[40];
        ByteBuffer.wrap(unterminated).order(ByteOrder.LITTLE_ENDIAN).putLong(0x1010);
        java.util.Arrays.fill(unterminated, 24, 40, (byte) 'x');
        NoteScan scan = read(StapsdtElf.x86_64()
                .note("p", "first", "", 0x1010, 0)
                .note("p", "nowhere", "", 0x9000, 0)
                .note("p", "indata", "", 0x5000, 0)
                .note("p", "nosema", "", 0x1010, 0x9000)
                .note("p", "execsema", "", 0x1010, 0x1020)
                .note("p", "bsssema", "", 0x1010, 0x5090)
                .note("", "noprovider", "", 0x1010, 0)
                .note("p", "", "", 0x1010, 0)
                .note(8, 4, 3, "stapsdt\0", new byte[4])
                .note(8, 40, 3, "stapsdt\0", unterminated)
                .note("p".repeat(1 << 20), "longprovider", "", 0x1010, 0)
                .note("p", "manyargs", "8@%rax ".repeat(10_000), 0x1010, 0)
                .note(4, 4, 3, "GNU\0", new byte[4])
                .note("p", "last", "", 0x1010, 0));
        assertThat(sites(scan)).extracting(NoteSite::name).containsExactly("first", "last");
        assertThat(scan.problems()).hasSize(11);
        assertThat(scan.problems().get(0).message()).contains("p:nowhere", "0x9000", "executable");
        assertThat(scan.problems().get(2).message()).contains("p:nosema", "semaphore");
        assertThat(scan.problems().get(3).message()).contains("p:execsema", "executable segment");
        assertThat(scan.problems().get(4).message()).contains("p:bsssema", "writable");
        assertThat(scan.problems().get(8).message()).contains("terminating NUL");
        assertThat(scan.problems().get(9).message()).contains("4096 bytes");
        assertThat(scan.problems().get(10).message()).contains("65536 bytes");
        assertThat(scan.problems()).allSatisfy(p -> assertThat(p.message()).startsWith("test: .note.stapsdt at 0x"));
    }

    @ParameterizedTest
    @CsvSource({"-1, 4", "4, -1", "-1, -1", "2147483647, 2147483647", "-4, 8", "8, -4"})
    void lengthsThatOverflowEndTheSection(int ownerSize, int descriptionSize) {
        NoteScan scan = read(StapsdtElf.x86_64()
                .note("p", "first", "", 0x1010, 0)
                .note(ownerSize, descriptionSize, 3, "stapsdt\0", new byte[64])
                .note("p", "lost", "", 0x1010, 0));
        assertThat(sites(scan)).extracting(NoteSite::name).containsExactly("first");
        assertThat(scan.problems()).singleElement().asString().contains("exceeds the rest");
    }

    @Test
    void aSectionCutShortIsReported() {
        NoteScan scan =
                read(StapsdtElf.x86_64().note("p", "first", "", 0x1010, 0).rawNotes(new byte[] {1, 2, 3}));
        assertThat(sites(scan)).hasSize(1);
        assertThat(scan.problems()).singleElement().asString().contains("truncated note header");
    }

    @Test
    void aMillionNotesAreReadInBoundedTime() {
        StapsdtElf good = StapsdtElf.x86_64();
        StapsdtElf bad = StapsdtElf.x86_64();
        for (int i = 0; i < 1_000_000; i++) {
            good.note("p", "n", "8@%rax", 0x1010, 0);
            bad.note("p", "n", "8@%rax", 0x9010, 0);
        }
        Assertions.assertTimeoutPreemptively(BOUND, () -> {
            NoteScan most = read(good);
            assertThat(sites(most)).hasSize(NoteLimits.MAX_SITES);
            assertThat(most.problems()).singleElement().asString().contains("more than 131072 sites");
            NoteScan scan = read(bad);
            assertThat(sites(scan)).isEmpty();
            assertThat(scan.problems()).hasSize(NoteLimits.MAX_PROBLEMS + 1);
            assertThat(scan.problems().getLast().message()).contains("999900 more");
        });
    }

    @Test
    void aMillionUnreadableNotesToo() {
        byte[] unterminated = new byte[32];
        ByteBuffer.wrap(unterminated).order(ByteOrder.LITTLE_ENDIAN).putLong(0x1010);
        java.util.Arrays.fill(unterminated, 24, 32, (byte) 'x');
        StapsdtElf bad = StapsdtElf.x86_64();
        for (int i = 0; i < 1_000_000; i++) {
            bad.note(8, 32, 3, "stapsdt\0", unterminated);
        }
        bad.note("p", "last", "", 0x1010, 0);
        Assertions.assertTimeoutPreemptively(BOUND, () -> {
            NoteScan scan = read(bad);
            assertThat(sites(scan)).extracting(NoteSite::name).containsExactly("last");
            assertThat(scan.problems()).hasSize(NoteLimits.MAX_PROBLEMS + 1);
        });
    }

    /** Every note is looked up in every segment, so those have to be few. */
    @Test
    void moreNotesThanAreReadInTenThousandSegments() {
        StapsdtElf file = StapsdtElf.x86_64();
        for (int i = 0; i < 10_000; i++) {
            file.segment(5, 0x1000, 0x100_0000L + i * 0x1000L, 0x1000);
        }
        file.note("p", "far", "", 0x100_0000L + 9_999 * 0x1000L, 0);
        for (int i = 0; i < 1_000_000; i++) {
            file.note("p", "n", "", 0x1010, 0x5000);
        }
        Assertions.assertTimeoutPreemptively(BOUND, () -> {
            NoteScan scan = read(file);
            assertThat(sites(scan)).hasSize(131_072);
            assertThat(scan.problems()).hasSize(3);
            assertThat(scan.problems().get(0).message()).contains("1170 loaded segments");
            assertThat(scan.problems().get(1).message()).contains("p:far");
            assertThat(scan.problems().get(2).message()).contains("more than 131072 sites");
        });
    }

    /** Sections that share their bytes make much of a small file. */
    @Test
    void tenThousandSectionsOfTheSameNotes() {
        StapsdtElf file = StapsdtElf.x86_64().noteSections(10_000);
        for (int i = 0; i < 20_000; i++) {
            file.note("p", "n", "8@%rax", 0x9010, 0);
        }
        Assertions.assertTimeoutPreemptively(BOUND, () -> {
            NoteScan scan = read(file);
            assertThat(sites(scan)).isEmpty();
            assertThat(scan.problems()).hasSize(NoteLimits.MAX_PROBLEMS + 1);
        });
        file.note("p", "last", "8@%rax", 0x1010, 0);
        assertThat(sites(read(file))).hasSize(1);
    }

    /** 17 MB of notes out of 30 KB. */
    @Test
    void aCompressedSectionThatIsLargerThanItsFile() {
        StapsdtElf file = StapsdtElf.x86_64().compressedNotes();
        for (int i = 0; i < 300_000; i++) {
            file.note("p", "n", "", 0x1010, 0);
        }
        NoteScan scan = read(file);
        assertThat(sites(scan)).isEmpty();
        assertThat(scan.problems()).singleElement().asString().contains("bytes of notes in all");
    }

    @Test
    void differentTextIsBoundedAndKnownTextIsNot() {
        StapsdtElf file = StapsdtElf.x86_64().note("p", "n", "8@%rax", 0x1010, 0);
        String long1 = "8@%rax ".repeat(9_000);
        for (int i = 0; i < 300; i++) {
            file.note("p", "n", long1 + i, 0x1010, 0);
        }
        file.note("p", "n", "8@%rax", 0x1020, 0);
        NoteScan scan = read(file);
        assertThat(sites(scan)).hasSizeBetween(17, 19);
        assertThat(sites(scan).getLast().address()).isEqualTo(0x1020);
        assertThat(scan.problems()).hasSize(NoteLimits.MAX_PROBLEMS + 1);
        assertThat(scan.problems().getFirst().message()).contains("1048576 characters");
    }

    @Test
    void segmentsThatOverlapAreAskedBothAndMustAgree() {
        NoteScan scan = read(StapsdtElf.x86_64()
                .segment(5, 0x1100, 0x1100, 0x100) // says the same of 0x1100 to 0x1200
                .segment(5, 0x1500, 0x1400, 0x100) // and something else of 0x1400 to 0x1500
                .segment(6, 0x3010, 0x5020, 0x20) // and of data at 0x5020
                .note("p", "same", "", 0x1110, 0)
                .note("p", "other", "", 0x1410, 0)
                .note("p", "beside", "", 0x1510, 0)
                .note("p", "data", "", 0x1510, 0x5020)
                .note("p", "edge", "", 0x1510, 0x501e));
        assertThat(sites(scan)).extracting(NoteSite::name).containsExactly("same", "beside", "edge");
        assertThat(scan.problems())
                .hasSize(2)
                .allSatisfy(p -> assertThat(p.message()).contains("overlap"));
    }

    @Test
    void whatTheKernelWouldRefuseCostsItsOwnNoteOnly() {
        NoteScan scan = read(StapsdtElf.x86_64()
                .segment(5, 0x100_0000, 0x100_0000, 0x1000) // beyond the end of the file
                .segment(5, -0x800, 0x200_0000, 0x1000)
                .segment(7, 0x3000, 0x300_0000, 0x80) // writable code
                .segment(6, 0, 0x400_0000, 0x80)
                .note("p", "first", "", 0x1010, 0x5000)
                .note("p", "beyond", "", 0x100_0010, 0)
                .note("p", "negative", "", 0x200_0010, 0)
                .note("p", "odd", "", 0x1010, 0x5001)
                .note("p", "cut", "", 0x1010, 0x507f)
                .note("p", "codesema", "", 0x1010, 0x300_0000)
                .note("p", "start", "", 0x1010, 0x400_0000)
                .note("p", "last", "", 0x1010, 0x507e));
        assertThat(sites(scan)).extracting(NoteSite::name).containsExactly("first", "last");
        assertThat(scan.problems()).hasSize(6);
        assertThat(scan.problems().get(5).message()).contains("p:start", "file offset 0");
        assertThat(scan.problems().get(0).message()).contains("p:beyond", "beyond the end");
        assertThat(scan.problems().get(1).message()).contains("p:negative", "beyond the end");
        assertThat(scan.problems().get(2).message()).contains("p:odd", "odd file offset");
        assertThat(scan.problems().get(3).message()).contains("p:cut", "outside");
        assertThat(scan.problems().get(4).message()).contains("p:codesema", "executable segment");
    }

    /** Its headers are those of the file that it belongs to, and so are the offsets. */
    @Test
    void aFileWithDebugInformationOnlySpeaksOfAnother() {
        NoteScan scan = read(StapsdtElf.x86_64()
                .withoutCode()
                .segment(5, 0x100_0000, 0x100_0000, 0x1000)
                .note("p", "elsewhere", "", 0x100_0010, 0));
        assertThat(sites(scan)).extracting(NoteSite::fileOffset).containsExactly(0x100_0010L);
    }

    @Test
    void longNamesAreQuotedInPart() {
        NoteScan scan = read(StapsdtElf.x86_64().note("p".repeat(4000), "n", "", 0x9000, 0));
        assertThat(scan.problems())
                .singleElement()
                .asString()
                .hasSizeLessThan(250)
                .contains("ppp…");
    }

    @Test
    void randomDamageGivesNotesOrProblemsOrAMalformedFile() {
        byte[] sound = StapsdtElf.x86_64()
                .note("provider", "one", "-4@%eax 8@-24(%rbp)", 0x1010, 0)
                .note("provider", "two", "-4@sym(%rip)", 0x1fff, 0x5002)
                .symbol("sym", 0x5010, 1)
                .build();
        Random random = RunSeed.random();
        for (int round = 0; round < 3_000; round++) {
            byte[] bytes = sound.clone();
            for (int i = 0; i < 4; i++) {
                int at = random.nextBoolean() ? 0x4000 + random.nextInt(bytes.length - 0x4000) : random.nextInt(180);
                bytes[at] = (byte) random.nextInt();
            }
            try (ElfFile elf = ElfFile.parse("damaged", bytes)) {
                assertThat(StapsdtReader.read(elf, Machine.X86_64)).isNotNull();
                assertThat(SymbolAddresses.find(elf, Set.of("sym"))).isNotNull();
            } catch (MalformedDataException e) {
                assertThat(e).hasMessageContaining("damaged");
            }
        }
    }

    @Test
    void symbolsWithOneAddressAreFound() {
        StapsdtElf file = StapsdtElf.x86_64()
                .symbol("one", 0x5010, 1)
                .symbol("twice", 0x5020, 1)
                .symbol("twice", 0x5030, 1)
                .symbol("same", 0x5040, 1)
                .symbol("same", 0x5040, 1)
                .symbol("thread", 0x10, 6)
                .symbol("indirect", 0x1010, 10)
                .undefined("elsewhere");
        try (ElfFile elf = ElfFile.parse("test", file.build())) {
            Set<String> names = Set.of("one", "twice", "same", "thread", "indirect", "elsewhere", "missing");
            assertThat(SymbolAddresses.find(elf, names)).isEqualTo(Map.of("one", 0x5010L, "same", 0x5040L));
        }
    }

    @Test
    void bytesThatAreNoTextDoNoHarm() {
        byte[] bytes = new byte[36];
        ByteBuffer description = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        description.putLong(0x1010).putLong(StapsdtElf.BASE).putLong(0).put(new byte[] {
            (byte) 0xff, 'p', 0, 'n', 0, (byte) 0xc3, 0
        });
        NoteScan scan = read(StapsdtElf.x86_64().note(8, 36, 3, "stapsdt\0", bytes));
        assertThat(sites(scan)).singleElement().satisfies(s -> {
            assertThat(s.provider()).isEqualTo("\udcffp");
            assertThat(s.name()).isEqualTo("n");
        });
    }

    /** What one note says, in the terms of the file. */
    private record NoteSite(
            String provider,
            String name,
            String arguments,
            long address,
            long fileOffset,
            long semaphoreAddress,
            long semaphoreOffset) {}

    private static List<NoteSite> sites(NoteScan scan) {
        return scan.probes().stream()
                .flatMap(probe -> probe.sites().stream()
                        .map(site -> new NoteSite(
                                probe.provider(),
                                probe.name(),
                                site.arguments(),
                                site.address(),
                                site.fileOffset(),
                                site.semaphoreAddress(),
                                site.semaphoreOffset())))
                .toList();
    }

    private static NoteScan read(StapsdtElf file) {
        try (ElfFile elf = ElfFile.parse("test", file.build())) {
            return StapsdtReader.read(elf, Machine.X86_64);
        }
    }
}
