package io.bpf4j.usdt.internal.note;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.usdt.RunSeed;
import io.bpf4j.usdt.StapsdtElf;
import io.bpf4j.usdt.site.Machine;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/** Whatever bytes stand where notes should: they give sites that are sound and problems that are told, and no more. */
class NotePropertiesTest {

    /** A note as it may be: sizes that lie, addresses anywhere, text with or without its NULs. */
    record Parts(int ownerLie, int descriptionLie, long address, long semaphore, String text) {}

    /** A segment of any kind, anywhere. */
    record Loaded(int flags, long offset, long address, long size) {}

    @Property(tries = 3_000, seed = RunSeed.OF_PROPERTIES)
    void anyNotesInAnySegments(
            @ForAll("parts") List<Parts> notes,
            @ForAll("segments") List<Loaded> segments,
            @ForAll boolean is64,
            @ForAll boolean little) {
        StapsdtElf file = new StapsdtElf(is64, little ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN, is64 ? 62 : 3);
        segments.forEach(s -> file.segment(s.flags, s.offset, s.address, s.size));
        file.note("p", "first", "", 0x1010, 0);
        for (Parts n : notes) {
            file.note(n.address, n.semaphore, n.text, n.ownerLie, n.descriptionLie);
        }
        check(file, segments.isEmpty());
    }

    @Property(tries = 3_000, seed = RunSeed.OF_PROPERTIES)
    void anyBytes(@ForAll("bytes") byte[] bytes) {
        check(StapsdtElf.x86_64().note("p", "first", "", 0x1010, 0).rawNotes(bytes), true);
    }

    /** The texts of a repeated note are not decoded again. */
    @Property(tries = 2_000, seed = RunSeed.OF_PROPERTIES)
    void aRepeatedNoteReadsLikeTheFirst(@ForAll("parts") List<Parts> notes, @ForAll boolean is64) {
        assertThat(sitesOf(notes, is64, 2))
                .isEqualTo(sitesOf(notes, is64, 1).stream()
                        .flatMap(probe -> Stream.of(probe, probe))
                        .toList());
    }

    /** The sites of each probe, sorted by probe and place. */
    private static List<String> sitesOf(List<Parts> notes, boolean is64, int times) {
        StapsdtElf file = new StapsdtElf(is64, ByteOrder.LITTLE_ENDIAN, is64 ? 62 : 3);
        for (int i = 0; i < times; i++) {
            notes.forEach(n -> file.note(n.address, n.semaphore, n.text, 0, 0));
        }
        try (ElfFile elf = ElfFile.parse("test", file.build())) {
            return StapsdtReader.read(elf, Machine.X86_64).probes().stream()
                    .flatMap(probe -> probe.sites().stream()
                            .map(site -> probe.provider() + ":" + probe.name() + " " + site + " " + site.arguments()
                                    + " " + site.args()))
                    .sorted()
                    .toList();
        }
    }

    private static void check(StapsdtElf file, boolean onlyUsualSegments) {
        byte[] bytes = file.build();
        try (ElfFile elf = ElfFile.parse("test", bytes)) {
            NoteScan scan = StapsdtReader.read(elf, Machine.X86_64);
            assertThat(scan.problems()).hasSizeLessThanOrEqualTo(NoteLimits.MAX_PROBLEMS + 1);
            if (onlyUsualSegments) {
                assertThat(scan.probes().getFirst().name()).isEqualTo("first");
            }
            for (NoteScan.Probe probe : scan.probes()) {
                assertThat(probe.provider()).isNotEmpty();
                assertThat(probe.name()).isNotEmpty();
                assertThat(probe.sites()).isNotEmpty().allSatisfy(site -> {
                    assertThat(site.fileOffset()).isBetween(0L, bytes.length - 1L);
                    assertThat(site.semaphoreOffset()).isBetween(0L, bytes.length - 2L);
                    assertThat(site.semaphoreOffset() % 2).isZero();
                    assertThat(site.semaphoreOffset() == 0).isEqualTo(site.semaphoreAddress() == 0);
                });
            }
        }
    }

    @Provide
    Arbitrary<List<Parts>> parts() {
        Arbitrary<Integer> lies = Arbitraries.frequencyOf(
                Tuple.of(8, Arbitraries.just(0)),
                Tuple.of(1, Arbitraries.integers()),
                Tuple.of(1, Arbitraries.integers().between(-40, 40)));
        Arbitrary<Long> addresses = Arbitraries.oneOf(
                Arbitraries.longs(),
                Arbitraries.longs().between(0xff0, 0x2010),
                Arbitraries.longs().between(0x4ff0, 0x5110),
                Arbitraries.just(0L));
        Arbitrary<String> texts = Arbitraries.of("p", "name", "8@%rax", "\0", "\0\0", " ", "é", "x".repeat(5000))
                .list()
                .ofMaxSize(8)
                .map(list -> String.join("", list));
        return RunSeed.mixedInto(Combinators.combine(lies, lies, addresses, addresses, texts)
                .as(Parts::new)
                .list()
                .ofMaxSize(6));
    }

    @Provide
    Arbitrary<List<Loaded>> segments() {
        Arbitrary<Long> numbers = Arbitraries.oneOf(
                Arbitraries.longs(), Arbitraries.longs().between(0, 0x8000), Arbitraries.of(0x1000L, -1L, 0L));
        return RunSeed.mixedInto(Combinators.combine(Arbitraries.integers().between(0, 7), numbers, numbers, numbers)
                .as(Loaded::new)
                .list()
                .ofMaxSize(4));
    }

    @Provide
    Arbitrary<byte[]> bytes() {
        return RunSeed.mixedInto(Arbitraries.bytes().array(byte[].class).ofMaxSize(255));
    }
}
