package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_LOOP;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.KERNEL_BTF;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.VerifierException;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.TargetFile;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.loader.link.UprobeMulti;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What the loader makes of an object file, seen from inside the kernel: programs that check global data, calls, kconfig
 * values and maps, and leave the number of the line that failed.
 */
@Requires({BPF, GCC, SDT_H, ASSEMBLER})
@ExtendWith(LeakCheck.class)
class ObjectsAtWorkTest {

    private static long poke(Path program) throws IOException {
        try (ElfFile elf = ElfFile.open(program)) {
            long address = elf.symbols()
                    .filter(s -> s.name().equals("poke"))
                    .findFirst()
                    .orElseThrow()
                    .value();
            return elf.fileOffset(address).orElseThrow();
        }
    }

    private static Link onPoke(BpfObject object, String program, TargetProgram target) throws IOException {
        return object.program(program).attach(Uprobe.at(TargetFile.of(target.path()), poke(target.path())));
    }

    private static void assertRan(BpfObject object, long runs) {
        assertThat(Bpf.u32(object, "failed_line"))
                .as("line of the BPF program that failed")
                .isZero();
        assertThat(Bpf.u64(object, "runs")).isEqualTo(runs);
    }

    @Test
    void globalDataOfEveryKind() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = Bpf.load(
                        "globals.bpf.o",
                        l -> Bpf.only(l, target.pid())
                                .global("set_before_load", (short) -12345)
                                .global("counter", 50L));
                Link link = onPoke(object, "globals", target)) {
            assertThat(link).isNotNull();
            target.command("poke 1");
            target.command("poke 1");

            assertRan(object, 2);
            assertThat(Bpf.u64(object, "counter")).isEqualTo(54);
            assertThat(Bpf.u64(object, "zeroed")).isEqualTo(2);
            assertThat(Bpf.u32(object, "custom_data")).isEqualTo(102);
            assertThat(Bpf.global(object, "one_byte").get()).isEqualTo((byte) 0xa5);
            ByteBuffer pair = Bpf.global(object, "pair_out");
            assertThat(pair.get(0)).isEqualTo((byte) 8);
            assertThat(pair.getLong(8)).isEqualTo(9);
            assertThat(Bpf.u64(object, "constant")).isEqualTo(0x1122334455667788L);
        }
    }

    @Test
    void aGlobalThatIsNotSetStopsTheProgramWhereItChecksIt() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = Bpf.load("globals.bpf.o", l -> Bpf.only(l, target.pid()));
                Link link = onPoke(object, "globals", target)) {
            assertThat(link).isNotNull();
            target.command("poke 1");
            assertThat(Bpf.u32(object, "failed_line")).isPositive();
            assertThat(Bpf.u64(object, "runs")).isZero();
        }
    }

    @Test
    @Requires(UPROBE_MULTI)
    void callsBetweenFunctions() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = Bpf.load("calls.bpf.o", l -> Bpf.only(l, target.pid()));
                Link first = onPoke(object, "first", target);
                Link second = object.program("second")
                        .attach(UprobeMulti.at(TargetFile.of(target.path()), poke(target.path())))) {
            assertThat(first).isNotEqualTo(second);
            target.command("poke 1");

            assertRan(object, 2);
            BpfMap called = object.map("called");
            assertThat(Bpf.element(called, 0).getLong()).isEqualTo(1);
            assertThat(Bpf.element(called, 1).getLong()).isEqualTo(1);
            assertThat(Bpf.element(called, 2).getLong()).isEqualTo(1);
            assertThat(Bpf.element(called, 3).getLong()).isZero();
        }
    }

    @Test
    void kernelConfigurationAndVersion() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = Bpf.load("kconfig.bpf.o", l -> Bpf.only(l, target.pid()));
                Link link = onPoke(object, "kconfig", target)) {
            assertThat(link).isNotNull();
            target.command("poke 1");

            assertRan(object, 1);
            int version = Bpf.u32(object, "kernel_version");
            assertThat(System.getProperty("os.version")).startsWith((version >>> 16) + "." + ((version >>> 8) & 0xff));
            assertThat(Bpf.u32(object, "has_cookie")).isIn(0, 1);
            assertThat(Bpf.u32(object, "has_syscall_wrapper")).isEqualTo(1);
            assertThat(Bpf.u32(object, "missing")).isZero();
            if (Files.exists(Path.of("/proc/config.gz"))
                    || Files.exists(Path.of("/boot/config-" + System.getProperty("os.version")))) {
                assertThat(Bpf.u32(object, "bpf_syscall")).isEqualTo(1);
                assertThat(Bpf.u32(object, "net")).isIn(1, 2);
                assertThat(Bpf.u32(object, "hz")).isIn(100, 250, 300, 1000);
                assertThat((char) Bpf.global(object, "hostname_first").get()).isEqualTo('(');
            }
        }
    }

    @Test
    void mapsFromBothSides() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = Bpf.load("maps.bpf.o", l -> Bpf.only(l, target.pid()));
                Link link = onPoke(object, "maps", target);
                RingBuffer ring = RingBuffer.open(object.map("ring"))) {
            assertThat(link).isNotNull();
            BpfMap hash = object.map("hash");
            byte[] given = pairKey(1, 100);
            hash.update(given, Bpf.bytes(16).putLong(77).putInt(5).array());
            hash.update(pairKey(3, 300), new byte[16]);

            target.command("poke 1");
            target.command("poke 1");

            assertRan(object, 2);
            assertThat(Bpf.buffer(hash.lookup(given).orElseThrow()).getInt(8)).isEqualTo(7);
            assertThat(Bpf.buffer(hash.lookup(pairKey(2, 200)).orElseThrow()).getLong(0))
                    .isEqualTo(1);
            assertThat(hash.lookup(pairKey(3, 300))).isEmpty();
            assertThat(hash.keys()).hasSize(2);
            assertThat(Bpf.element(object.map("array"), 1).getLong()).isEqualTo(154);

            List<ByteBuffer> records = Bpf.records(ring, 2);
            assertThat(records).extracting(r -> r.getLong(0)).containsExactly(0L, 1L);
            assertThat(records).allSatisfy(r -> assertThat(r.getLong(8)).isEqualTo(77));

            hash.delete(given);
            assertThat(hash.lookup(given)).isEmpty();
            target.command("poke 1");
            assertThat(Bpf.u32(object, "failed_line"))
                    .as("the program misses the deleted key")
                    .isPositive();
        }
    }

    private static byte[] pairKey(int kind, int number) {
        return Bpf.bytes(8).putInt(kind).putInt(number).array();
    }

    @Test
    void aProgramThatTheVerifierRefusesSaysWhyAndLeavesNothing() {
        BpfLoader loader = BpfLoader.of(Bpf.spec("refused.bpf.o"));
        assertThatThrownBy(loader::load)
                .isInstanceOfSatisfying(VerifierException.class, e -> {
                    assertThat(e.program()).isEqualTo("refused");
                    assertThat(e.log()).contains("R0 invalid mem access 'map_value_or_null'");
                })
                .hasMessageContaining("refused")
                .hasMessageContaining("R0 invalid mem access 'map_value_or_null'");
    }

    @Test
    void aSkippedProgramIsNotLoaded() {
        try (BpfObject object = Bpf.load("refused.bpf.o", l -> l.program("refused", p -> p.withAutoload(false)))) {
            assertThat(object.programs()).extracting(p -> p.name()).containsExactly("accepted");
        }
    }

    /** Maps in a map, programs in a map, a tail call, kernel symbols that are missing: the program checks itself. */
    @Test
    void theOtherFormsOfAnObject() {
        try (BpfObject object = Bpf.load("forms.bpf.o")) {
            assertThat(object.programs()).extracting(Program::name).containsExactly("tail", "forms");
            assertThat(run(object.program("forms")))
                    .as("7 is what the tail call returns, all else a line")
                    .isEqualTo(7);
            assertThat(Bpf.element(object.map("second_inner"), 0).getLong()).isEqualTo(1);
            assertThat(Bpf.element(object.map("first_inner"), 0).getLong()).isZero();
        }
    }

    @Test
    @Requires(BPF_LOOP)
    void aCallback() {
        try (BpfObject object = Bpf.load("forms.bpf.o", l -> l.program("callback", p -> p.withAutoload(true)))) {
            assertThat(run(object.program("callback"))).isEqualTo(0 + 1 + 2 + 3 + 4);
        }
    }

    /** Runs a socket filter once, on a packet of zeroes. */
    private static int run(Program program) {
        Kernel kernel = Kernel.of(Host.running());
        try (Fd fd = kernel.execute(new ObjectCommand.FdById(ObjectCommand.Kind.PROGRAM, program.id()))) {
            return kernel.execute(new ProgCommand.TestRun(fd, new byte[64], 0, new byte[0], 0, 1, 0, 0, 0))
                    .returned();
        }
    }

    @Test
    void aMapThatItsUserHasToSizeSaysSo() {
        assertThatThrownBy(() -> Bpf.load("maps.bpf.o", l -> l.map("hash", map -> map.withMaxEntries(0))))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("hash")
                .hasMessageContaining("withMaxEntries");
    }

    @Test
    @Requires(KERNEL_BTF)
    void oneSpecIsLoadedByManyThreadsAtOnce() throws Exception {
        // What they share: the spec, the index of the kernel's types, the features of the kernel.
        List<ObjectSpec> specs = Stream.of("corpus/core_fields.bpf.o", "globals.bpf.o", "forms.bpf.o")
                .map(Bpf::spec)
                .toList();
        List<Callable<Integer>> loads = Stream.generate(() -> specs)
                .limit(20)
                .flatMap(List::stream)
                .map(spec -> (Callable<Integer>) () -> {
                    try (BpfObject object = BpfLoader.of(spec).load()) {
                        return object.programs().size();
                    }
                })
                .toList();
        try (ExecutorService threads = Executors.newFixedThreadPool(6)) {
            for (Future<Integer> programs : threads.invokeAll(loads)) {
                assertThat(programs.get()).isPositive();
            }
        }
    }
}
