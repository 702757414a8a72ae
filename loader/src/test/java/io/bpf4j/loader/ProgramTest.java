package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramInfo;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a loaded program asks of the kernel; that the kernel answers so is shown on the real one. */
class ProgramTest {
    private static final Path PATH = Path.of("/sys/fs/bpf/count");

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final BpfObject object =
            ScriptedLoads.loader(kernel, ScriptedLoads.spec("test_runs.bpf.o")).load();
    private final Program program = object.program("count");

    @AfterEach
    void close() {
        object.close();
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void aRunIsAskedForAsDescribed() {
        kernel.answer(
                ProgCommand.TestRun.class, _ -> new ProgCommand.TestRunResult(7, 100, new byte[] {1}, new byte[] {2}));
        byte[] packet = new byte[60];
        TestRun input = TestRun.onData(packet)
                .withContext(new byte[12])
                .withContextRoom(40)
                .withRepeat(3)
                .withCpu(1)
                .withFlags(4);
        packet[0] = 1; // its own copy was taken
        TestRun.Result result = program.test(input);
        assertThat(result.returned()).isEqualTo(7);
        assertThat(result.nanos()).isEqualTo(100);
        assertThat(result.data()).containsExactly(1);
        assertThat(result.context()).containsExactly(2);
        assertThat(kernel.commands(ProgCommand.TestRun.class)).singleElement().satisfies(run -> {
            assertThat(run.data()).hasSize(60).containsOnly(0);
            assertThat(run.dataOut()).isEqualTo(60 + 512);
            assertThat(run.context()).hasSize(12);
            assertThat(run.contextOut()).isEqualTo(40);
            assertThat(run.repeat()).isEqualTo(3);
            assertThat(run.flags()).isEqualTo(1 | 4);
            assertThat(run.cpu()).isEqualTo(1);
            assertThat(run.batchSize()).isZero();
        });
        assertThat(input).hasToString("test run on 60 bytes of data and 12 of context, 3 times, on CPU 1");
    }

    @Test
    void nothingIsGivenUnlessSaid() {
        program.test(TestRun.once());
        program.test(TestRun.onData(new byte[14]).withLiveFrames(64));
        program.test(TestRun.onContext(new byte[] {9}));
        List<ProgCommand.TestRun> runs = kernel.commands(ProgCommand.TestRun.class);
        assertThat(runs.get(0).data()).isEmpty();
        assertThat(runs.get(0).dataOut()).isZero();
        assertThat(runs.get(0).repeat()).as("raw tracepoints take no other").isZero();
        assertThat(runs.get(1).flags()).isEqualTo(2);
        assertThat(runs.get(1).batchSize()).isEqualTo(64);
        assertThat(runs.get(1).dataOut()).as("live frames give nothing back").isZero();
        assertThat(runs.get(2).context()).containsExactly(9);
    }

    @Test
    void informationIsThatOfTheKernel() {
        ProgramInfo known = new ProgramInfo(
                42,
                "count",
                1,
                "00",
                16,
                20,
                8,
                List.of(3, 4),
                4,
                10,
                true,
                Duration.ofNanos(9_000),
                Duration.ofNanos(5_000),
                6,
                7);
        kernel.answer(ObjectCommand.InfoOfProgram.class, _ -> known);
        assertThat(program.info()).isEqualTo(known);
        assertThat(program.id()).isEqualTo(42);
    }

    @Test
    void aProgramIsPinnedAndUnpinned() {
        program.pin(PATH);
        assertThat(kernel.pinned()).containsExactly(PATH.toString());
        assertThatThrownBy(() -> object.program("mark").unpin(PATH)).isInstanceOf(IllegalArgumentException.class);
        assertThat(program.unpin(PATH)).isTrue();
        assertThat(program.unpin(PATH)).isFalse();
    }

    @Test
    void aProgramThatIsOpenedIsClosedByItsCaller() {
        program.pin(PATH);
        List<String> before = List.copyOf(kernel.open());
        try (Program opened = Programs.pinned(kernel.host(), PATH)) {
            assertThat(opened.id()).isEqualTo(program.id());
            assertThat(opened.forAttachType(AttachType.XDP).attachType()).contains(AttachType.XDP);
            assertThat(opened.forAttachType(AttachType.XDP).withoutAttachType().fd())
                    .isSameAs(opened.fd());
            assertThatThrownBy(opened::spec).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(opened::object).isInstanceOf(IllegalStateException.class);
        }
        assertThat(kernel.open()).containsExactlyElementsOf(before);
        kernel.fail(ObjectCommand.InfoOfProgram.class, Errno.EPERM);
        assertThatThrownBy(() -> Programs.pinned(kernel.host(), PATH)).isInstanceOf(SyscallException.class);
        assertThatThrownBy(() -> Programs.byId(kernel.host(), 7)).isInstanceOf(SyscallException.class);
        assertThat(kernel.open()).containsExactlyElementsOf(before);
    }

    @Test
    void statisticsAreOnWhileOpen() {
        RunStatistics on = RunStatistics.enable(kernel.host());
        assertThat(kernel.open()).contains("BPF statistics");
        on.close();
        on.close();
        assertThat(kernel.open()).doesNotContain("BPF statistics");
        kernel.fail(ProgCommand.EnableStats.class, Errno.EINVAL);
        assertThatThrownBy(() -> RunStatistics.enable(kernel.host()))
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessageContaining("5.8")
                .hasMessageContaining("kernel.bpf_stats_enabled");
        kernel.fail(ProgCommand.EnableStats.class, Errno.EPERM);
        assertThatThrownBy(() -> RunStatistics.enable(kernel.host())).isInstanceOf(SyscallException.class);
    }

    @Test
    void aProgramIsAssociatedWithAStructOfFunctions() {
        BpfMap structOps =
                Maps.create(kernel.host(), ScriptedLoads.everything(), MapSpec.of("ops", MapType.STRUCT_OPS, 4, 8, 1));
        try (structOps) {
            program.associate(structOps);
            ProgCommand.AssociateStructOps command =
                    kernel.commands(ProgCommand.AssociateStructOps.class).getFirst();
            assertThat(command.program()).isEqualTo(program.fd().number());
            assertThat(command.map().description()).contains("ops");
            kernel.fail(ProgCommand.AssociateStructOps.class, Errno.EINVAL);
            assertThatThrownBy(() -> program.associate(structOps))
                    .as("the kernel could, so it is the map")
                    .isInstanceOf(SyscallException.class);
        }
    }
}
