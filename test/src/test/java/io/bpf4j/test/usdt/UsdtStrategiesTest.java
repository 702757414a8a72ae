package io.bpf4j.test.usdt;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.HALF_INDEX;
import static io.bpf4j.test.support.Requirement.OVERLAY;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.test.support.Args12Event;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Mount;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.usdt.AttachOptions;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The same events with the same values, whichever way a program is attached, and nothing left afterwards. */
@ParameterizedClass(name = "{0}")
@EnumSource(Strategy.class)
@Tag("usdt")
@Requires({BPF, GCC, SDT_H, ASSEMBLER})
@ExtendWith(LeakCheck.class)
class UsdtStrategiesTest extends UsdtSuite {
    private static final long COOKIE = 0x8122334455667788L;
    private static final int STRINGS = 20;

    UsdtStrategiesTest(Strategy strategy) {
        super(strategy);
    }

    /** Fires one probe of the target and gives its one event. */
    private Args12Event fire(String object, String flags, String probe, String command) throws IOException {
        try (TargetProgram target = TargetProgram.start(flags.split(" "));
                BpfObject loaded = load(object, target.pid());
                RingBuffer ring = RingBuffer.open(loaded.map("events"))) {
            AttachOptions options = in(target).withCookie(COOKIE);
            try (UsdtLink link = attach(loaded, target.path(), "target:" + probe, options)) {
                assertThat(link.siteCount()).isEqualTo(1);
                assertThat(link.specCount()).isEqualTo(1);
                target.command(command);
            }
            assertNothingLeft(loaded);
            target.command(command);
            List<Args12Event> events = events(ring);
            assertThat(events).as("one while attached, none after").hasSize(1);
            assertThat(events.getFirst().cookie()).isEqualTo(COOKIE);
            assertThat(events.getFirst().pid()).isEqualTo(target.pid());
            return events.getFirst();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "args12.bpf.o, -O0",
        "args12.bpf.o, -O2",
        "args12.bpf.o, -O2 -no-pie",
        "args12_208.bpf.o, -O0",
        "args12_208.bpf.o, -O2"
    })
    void argumentsOfEverySizeAndSign(String object, String flags) throws IOException {
        requireSizes(fire(object, flags, "sizes", "sizes"));
    }

    @ParameterizedTest
    // Not 208 bytes at -O2: gcc indexes by a register there, which that layout has no words for.
    @CsvSource({"args12.bpf.o, -O0", "args12.bpf.o, -O2", "args12_208.bpf.o, -O0"})
    void argumentsInMemory(String object, String flags) throws IOException {
        assertThat(fire(object, flags, "memory", "sizes").arguments()).isEqualTo(MEMORY);
    }

    @ParameterizedTest
    @CsvSource({"-O2", "-O2 -no-pie"})
    void everyFormThatAnAssemblerTakes(String flags) throws IOException {
        Args12Event event = fire("args12.bpf.o", flags, "forms", "forms");
        assertThat(event.results()).containsOnly(0L);
        assertThat(event.arguments()).isEqualTo(FORMS);
    }

    /**
     * An index register of which only the lower half counts, extended with zeros or with its sign. The notes of arm64
     * say so; there are no such notes for x86-64, so the fields of its spec are set here.
     */
    @Test
    @Requires(HALF_INDEX)
    void halfOfAnIndexRegister() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load("args12.bpf.o", target.pid());
                RingBuffer ring = RingBuffer.open(object.map("events"));
                UsdtLink link = attach(object, target.path(), "target:halves", in(target))) {
            assertThat(link.specCount()).isEqualTo(1);
            if (System.getProperty("os.arch").equals("amd64")) {
                target.command("halves");
                assertThat(events(ring).getFirst().results().subList(0, 2))
                        .as("all of the register leads to no memory")
                        .containsExactly(Args12Event.EFAULT, Args12Event.EFAULT);
                takeHalfOfIndexes(object.map(SPECS));
            }
            target.command("halves");
            Args12Event event = events(ring).getFirst();
            assertThat(event.results().subList(0, 2)).containsExactly(0L, 0L);
            assertThat(event.arguments()).containsExactly(-103L, -100L);
        }
    }

    /** Sets idx_bitshift of the first two arguments of the only spec, and idx_signed of the second. */
    private static void takeHalfOfIndexes(BpfMap specs) {
        byte[] id = new byte[4];
        byte[] spec = specs.lookup(id).orElseThrow();
        int second = 24;
        int idxBitshift = 12;
        int idxSigned = 13;
        spec[idxBitshift] = 32;
        spec[second + idxBitshift] = 32;
        spec[second + idxSigned] = 1;
        specs.update(id, spec);
    }

    /** One link for all sites; or an event for each, and a link where the kernel has links of events (5.15). */
    private Map<String, Integer> descriptors(int sites) {
        if (strategy == Strategy.MULTI) {
            return Map.of("descriptor of anon_inode:bpf_link", 1);
        }
        return Strategy.COOKIE.isSupported()
                ? Map.of("descriptor of anon_inode:[perf_event]", sites, "descriptor of anon_inode:bpf_link", sites)
                : Map.of("descriptor of anon_inode:[perf_event]", sites);
    }

    @Test
    void oneDescriptorForAllSitesOrTwoForEach() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2", "-DROUNDS=1");
                BpfObject object = load("args12.bpf.o", target.pid())) {
            Map<String, Integer> before = LeakCheck.open();
            try (UsdtLink link = attach(object, target.path(), "target:many", in(target))) {
                assertThat(link.siteCount()).isEqualTo(STRINGS);
                assertThat(LeakCheck.moreThan(before)).isEqualTo(descriptors(STRINGS));
            }
        }
    }

    /** The address of a site is found by the file that a process maps, whose device and inode are others in maps here. */
    @Test
    @Requires(OVERLAY)
    void aProgramOnAnOverlayFileSystem(@TempDir Path folder) throws IOException {
        Path program = TargetProgram.compile("-O2");
        String lower = program.getParent() + ":" + Files.createDirectory(folder.resolve("empty"));
        try (Mount overlay = Mount.of("overlay", "lowerdir=" + lower, folder.resolve("overlay"));
                TargetProgram target =
                        TargetProgram.startCopy(overlay.directory().resolve(program.getFileName()));
                BpfObject object = load("args12.bpf.o", target.pid());
                RingBuffer ring = RingBuffer.open(object.map("events"))) {
            try (UsdtLink link = attach(object, target.path(), "target:sizes", in(target))) {
                assertThat(link.problems()).isEmpty();
                target.command("sizes");
                requireSizes(events(ring).getFirst());
            }
            assertNothingLeft(object);
        }
    }

    @ParameterizedTest
    @CsvSource({"args12.bpf.o", "args12_208.bpf.o"})
    void anArgumentThatCantBeReadCostsItselfOnly(String object) throws IOException {
        Args12Event event = fire(object, "-O2", "unsupported", "unsupported");
        assertThat(event.argCount()).isEqualTo(3);
        assertThat(event.arguments()).containsExactly(77L, 0L, -3L);
        assertThat(event.results().subList(0, 3)).containsExactly(0L, Args12Event.EINVAL, 0L);
        assertThat(event.results().subList(3, 12)).containsOnly(Args12Event.ENOENT);
    }

    /**
     * Per-site strategies wait a tenth of a second for each site to be detached, hence 20 here; thousands are
     * elsewhere.
     */
    @Test
    void eachSiteOfAProbeHasArgumentsOfItsOwn() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2", "-DROUNDS=1");
                BpfObject object = load("args12.bpf.o", target.pid());
                RingBuffer ring = RingBuffer.open(object.map("events"))) {
            try (UsdtLink link = attach(object, target.path(), "target:many", in(target))) {
                assertThat(link.siteCount()).isEqualTo(STRINGS);
                assertThat(link.specCount()).isEqualTo(STRINGS);
                target.command("many 777");
            }
            assertThat(events(ring))
                    .extracting(Args12Event::arguments)
                    .containsExactlyElementsOf(LongStream.range(0, STRINGS)
                            .mapToObj(k -> List.of(k, 777L))
                            .toList());
            assertNothingLeft(object);
        }
    }

    @Test
    void semaphoresAreOneWhileAttachedAndZeroAfter() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load("counters.bpf.o", target.pid())) {
            assertThat(target.command("semaphores")).isEqualTo("0 0");
            assertThat(target.command("guarded")).isEqualTo("0");
            try (UsdtLink link = attach(object, target.path(), "target:guarded", in(target))) {
                assertThat(target.command("semaphores")).isEqualTo("1 0");
                try (UsdtLink other = attach(object, target.path(), "target:lonely", in(target))) {
                    assertThat(target.command("semaphores")).isEqualTo("1 1");
                    assertThat(other.siteCount()).isEqualTo(link.siteCount());
                }
                assertThat(target.command("semaphores")).isEqualTo("1 0");
                assertThat(target.command("guarded")).isEqualTo("1");
            }
            assertThat(target.command("semaphores")).isEqualTo("0 0");
            assertThat(target.command("guarded")).isEqualTo("0");
            assertThat(total(object)).isEqualTo(1);
            assertThat(Bpf.u64(object, "no_spec")).isZero();
            assertNothingLeft(object);
        }
    }

    /**
     * All that matches in two files by one call: the program's own probes, and those of a library that it has loaded.
     */
    @Test
    void wildcardsReachTwoFilesAndEachEventTellsItsProbe() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load("args12.bpf.o", target.pid());
                RingBuffer ring = RingBuffer.open(object.map("events"))) {
            Path library = loadLibrary(target);
            List<UsdtProbe> probes = new ArrayList<>(
                    UsdtScan.ofProcess(target.pid()).matching("lib?ary:*").probes());
            probes.addAll(UsdtScan.ofProcess(target.pid()).matching("tar*:te?t").probes());
            probes.addAll(
                    UsdtScan.ofProcess(target.pid()).matching("target:guard*").probes());
            assertThat(probes)
                    .extracting(UsdtProbe::fullName)
                    .containsExactly("library:called", "library:watched", "target:text", "target:guarded");
            assertThat(probes).extracting(probe -> probe.binary().name()).contains(library.toString());

            AttachOptions options = in(target).withCookies(probe -> 100 + probes.indexOf(probe));
            try (UsdtLink link = attachAll(object, probes, options)) {
                assertThat(link.probes()).isEqualTo(probes);
                assertThat(link.siteCount()).isEqualTo(sites(probes)).isEqualTo(5);
                // Two sites of library:called, so its semaphore counts two.
                assertThat(target.command("library 3")).isEqualTo("3");
                assertThat(target.command("library 4")).isEqualTo("3");
                target.command("text hello");
                assertThat(target.command("guarded")).isEqualTo("1");
            }
            List<Args12Event> events = events(ring);
            assertThat(events).extracting(Args12Event::cookie).containsExactly(100L, 101L, 100L, 101L, 102L, 103L);
            assertThat(events.get(0).arguments()).containsExactly(3L, 1L);
            assertThat(events.get(1).arguments()).containsExactly(3_000_000_000_000L);
            assertThat(events.get(2).arguments()).containsExactly(4L, 2L);
            assertThat(events.get(3).arguments()).containsExactly(4_000_000_000_000L);
            assertThat(events.get(4).arguments().get(1))
                    .as("half of the text's length")
                    .isEqualTo(2);
            assertThat(events.get(5).arguments()).containsExactly(1234L, 1L);

            assertThat(target.command("library 3")).isEqualTo("0");
            assertThat(target.command("semaphores")).isEqualTo("0 0");
            assertThat(events(ring)).isEmpty();
            assertNothingLeft(object);
        }
    }

    @Test
    void otherProcessesOfTheFileAreLeftAlone() throws IOException {
        try (TargetProgram watched = TargetProgram.start("-O2");
                TargetProgram other = TargetProgram.start("-O2");
                BpfObject object = load("counters.bpf.o", 0);
                UsdtLink link = attach(object, watched.path(), "target:text", in(watched))) {
            assertThat(link.siteCount()).isEqualTo(1);
            other.command("text x");
            assertThat(total(object)).isZero();
            watched.command("text x");
            assertThat(total(object)).isEqualTo(1);
            watched.command("text_thread x");
            assertThat(total(object))
                    .as("a pid is a process, not its first thread")
                    .isEqualTo(2);
            other.command("text_thread x");
            assertThat(total(object)).isEqualTo(2);
        }
    }

    /** Without cookies the addresses must be known: those of a program at a fixed address are, in all processes. */
    @Test
    @SuppressWarnings("try") // closed in the middle, to see what comes after
    void allProcessesOfTheFileThoseYetToStartIncluded() throws IOException {
        Path program = TargetProgram.compile("-O2", "-no-pie");
        try (TargetProgram before = TargetProgram.start("-O2", "-no-pie");
                BpfObject object = load("counters.bpf.o", 0);
                UsdtLink link = attach(object, program, "target:guarded", AttachOptions.defaults());
                TargetProgram after = TargetProgram.start("-O2", "-no-pie")) {
            assertThat(link.siteCount()).isEqualTo(1);
            assertThat(before.command("guarded")).isEqualTo("1");
            assertThat(after.command("guarded")).isEqualTo("1");
            assertThat(total(object)).isEqualTo(2);
            assertThat(Bpf.u64(object, "no_spec")).isZero();
            link.close();
            assertThat(before.command("guarded")).isEqualTo("0");
            assertThat(after.command("guarded")).isEqualTo("0");
            assertNothingLeft(object);
        }
    }

    @Test
    void detachedAndAttachedAgain() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load("counters.bpf.o", target.pid())) {
            for (int round = 1; round <= 5; round++) {
                try (UsdtLink link = attach(object, target.path(), "target:guarded", in(target))) {
                    assertThat(link.specCount()).isEqualTo(1);
                    assertThat(object.map(IP_MAP).keys()).hasSize(strategy == Strategy.IP_MAP ? 1 : 0);
                    target.command("guarded");
                    assertThat(total(object)).isEqualTo(round);
                }
                assertThat(target.command("guarded")).isEqualTo("0");
                assertThat(total(object)).isEqualTo(round);
                assertNothingLeft(object);
            }
            assertThat(Bpf.u64(object, "no_spec")).isZero();
        }
    }

    @Test
    void aLinkClosedTwiceIsClosedOnce() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load("counters.bpf.o", target.pid())) {
            UsdtLink first = attach(object, target.path(), "target:guarded", in(target));
            first.close();
            // Takes over what the first one gave back.
            try (UsdtLink second = attach(object, target.path(), "target:guarded", in(target))) {
                first.close();
                assertThat(first.isClosed()).isTrue();
                assertThat(first.specCount()).isZero();
                assertThat(second.isClosed()).isFalse();
                assertThat(target.command("semaphores")).isEqualTo("1 0");
                target.command("guarded");
                assertThat(total(object)).isEqualTo(1);
                assertThat(Bpf.u64(object, "no_spec")).isZero();
            }
            assertThat(target.command("semaphores")).isEqualTo("0 0");
            assertNothingLeft(object);
        }
    }

    @Test
    void aLinkOutlivesItsObject() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2")) {
            BpfObject object = load("counters.bpf.o", target.pid());
            try (UsdtLink link = attach(object, target.path(), "target:guarded", in(target))) {
                object.close();
                assertThat(target.command("semaphores")).isEqualTo("1 0");
                assertThat(link.isClosed()).isFalse();
            } finally {
                object.close();
            }
            assertThat(target.command("semaphores")).isEqualTo("0 0");
        }
    }
}
