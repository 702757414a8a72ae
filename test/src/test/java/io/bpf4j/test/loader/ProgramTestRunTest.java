package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.RunStatistics;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.ProgramInfo;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Programs run without being attached, each kind on what it takes; and what the kernel says about them. */
@Requires(Requirement.BPF)
@ExtendWith(LeakCheck.class)
@Timeout(300)
class ProgramTestRunTest {
    private static final int XDP_TX = 3;

    @Test
    void aPacketGoesInAndComesOutLonger() {
        try (BpfObject object = Bpf.load("test_runs.bpf.o")) {
            byte[] packet = new byte[60];
            packet[0] = 5;
            TestRun.Result result = object.program("longer").test(TestRun.onData(packet));
            assertThat(result.returned()).isEqualTo(XDP_TX);
            assertThat(result.data()).hasSize(68).startsWith(0xb4, 60);
            assertThat(result.data()[8]).isEqualTo((byte) 5);

            assertThatThrownBy(() ->
                            object.program("longer").test(TestRun.onData(packet).withDataRoom(60)))
                    .isInstanceOfSatisfying(
                            SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOSPC))
                    .hasMessageContaining("60 bytes for data");
        }
    }

    @Test
    void aContextGoesWithThePacket() {
        try (BpfObject object = Bpf.load("test_runs.bpf.o")) {
            byte[] context = Bpf.bytes(12).putInt(8, 41).array();
            TestRun.Result result = object.program("mark")
                    .test(TestRun.onData(new byte[64]).withContext(context).withContextRoom(192));
            assertThat(result.returned()).isEqualTo(7);
            assertThat(result.data()).hasSize(64);
            assertThat(Bpf.buffer(result.context()).getInt(8)).isEqualTo(42);
        }
    }

    @Test
    @Requires(Requirement.SYSCALL_PROGRAM)
    void aStructIsGivenBackAsTheProgramLeftIt() {
        try (BpfObject object = Bpf.load("test_runs.bpf.o", l -> l.program("add", p -> p.withAutoload(true)))) {
            byte[] struct = Bpf.bytes(24).putLong(30).putLong(12).array();
            TestRun.Result result = object.program("add").test(TestRun.onContext(struct));
            assertThat(result.returned()).isZero();
            assertThat(Bpf.buffer(result.context()).getLong(16)).isEqualTo(42);
            assertThat(struct[16]).as("the caller's own").isZero();
        }
    }

    @Test
    @Requires(Requirement.SYSCALL_PROGRAM)
    void argumentsOfARawTracepointOnACpuOfChoice() {
        try (BpfObject object = Bpf.load("test_runs.bpf.o", l -> l.program("first", p -> p.withAutoload(true)))) {
            byte[] arguments = Bpf.bytes(16).putLong(40).putLong(2).array();
            Program program = object.program("first");
            assertThat(program.test(TestRun.onContext(arguments)).returned()).isEqualTo(42);
            assertThat(program.test(TestRun.onContext(arguments).withCpu(0)).returned())
                    .isEqualTo(42);
            assertThatThrownBy(() -> program.test(TestRun.onContext(arguments).withRepeat(2)))
                    .hasMessageContaining("EINVAL")
                    .hasMessageContaining("can't be repeated");
        }
    }

    @Test
    void aProgramRunsAsOftenAsAskedAndIsTimed() {
        try (BpfObject object = Bpf.load("test_runs.bpf.o")) {
            TestRun.Result result =
                    object.program("count").test(TestRun.onData(new byte[14]).withRepeat(100_000));
            assertThat(Bpf.u64(object, "runs")).isEqualTo(100_000);
            assertThat(result.nanos()).as("nanoseconds a run").isPositive();
        }
    }

    @Test
    void whatAKindDoesNotTakeIsExplained() {
        try (BpfObject object =
                Bpf.load("test_runs.bpf.o", l -> l.program("attached_only", p -> p.withAutoload(true)))) {
            assertThatThrownBy(() -> object.program("count").test(TestRun.onData(new byte[13])))
                    .hasMessageContaining("EINVAL")
                    .hasMessageContaining("at least 14 bytes");
            assertThatThrownBy(() -> object.program("attached_only").test(TestRun.once()))
                    .isInstanceOfSatisfying(
                            SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOTSUPP))
                    .hasMessageContaining("can't run programs of this type without attaching them");
        }
    }

    /** Whether a process has the descriptor of BPF_ENABLE_STATS, as far as this one may see that. */
    private static boolean holdsStatistics(ProcessHandle process) {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/" + process.pid() + "/fd"))) {
            return descriptors.anyMatch(ProgramTestRunTest::isStatistics);
        } catch (IOException | UncheckedIOException e) {
            return false; // it has ended
        }
    }

    private static boolean isStatistics(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().contains("bpf-stats");
        } catch (IOException e) {
            return false; // it was closed
        }
    }

    @Test
    void aProgramTellsWhatItIsAndHowOftenItRan() throws Exception {
        try (BpfObject object = Bpf.load("test_runs.bpf.o")) {
            Program program = object.program("count");
            ProgramInfo before = program.info();
            assertThat(before.name()).isEqualTo("count");
            assertThat(before.id()).isEqualTo(program.id());
            assertThat(before.tag()).matches("[0-9a-f]{16}");
            assertThat(before.instructionBytes()).isPositive().isLessThan(200);
            assertThat(before.gplCompatible()).isTrue();
            assertThat(before.mapIds())
                    .contains(object.maps().stream()
                            .filter(map -> map.name().endsWith(".bss"))
                            .mapToInt(BpfMap::id)
                            .findFirst()
                            .orElseThrow());
            assertThat(before.loadedAt()).isPositive();
            try (RunStatistics on = RunStatistics.enable()) {
                assertThat(on).isNotNull();
                program.test(TestRun.onData(new byte[14]).withRepeat(10_000));
            }
            ProgramInfo after = program.info();
            assertThat(after.runCount() - before.runCount()).isEqualTo(10_000);
            assertThat(after.runTime().minus(before.runTime())).isPositive();
            assertThat(holdsStatistics(ProcessHandle.current())).isFalse();
            // They are the machine's: another process, such as an agent, may have them on for as long as it runs.
            Await.until("runs that are not counted, or are because of another process", () -> {
                long counted = program.info().runCount();
                program.test(TestRun.onData(new byte[14]).withRepeat(10));
                return program.info().runCount() == counted
                        || ProcessHandle.allProcesses().anyMatch(ProgramTestRunTest::holdsStatistics);
            });
        }
    }

    @Test
    void theWholeContextMustFit() {
        try (BpfObject object = Bpf.load("test_runs.bpf.o")) {
            TestRun run = TestRun.onData(new byte[20]).withContext(new byte[12]).withContextRoom(12);
            assertThatThrownBy(() -> object.program("mark").test(run))
                    .hasMessageContaining("ENOSPC")
                    .hasMessageContaining("12 bytes for the context");
        }
    }
}
