package io.bpf4j.test.loader;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R1;
import static io.bpf4j.insn.Assembler.R10;
import static io.bpf4j.insn.Assembler.R2;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.KERNEL_FUNCTIONS;
import static io.bpf4j.test.support.Requirement.LOCK_IN_DATA;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Maps;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.loader.map.UpdateMode;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Elements with flags, and elements that a map has from the beginning. */
@Requires(BPF)
@ExtendWith(LeakCheck.class)
@Timeout(300)
class ElementFlagsOnKernelTest {
    private record Guarded(int left, int right, int lock) {}

    @Test
    @Requires({LOCK_IN_DATA, KERNEL_FUNCTIONS})
    void aValueIsReadAndWrittenUnderItsLock() throws Exception {
        try (BpfObject object = Bpf.load("corpus/locks_nested.bpf.o")) {
            BpfMap map = object.map("guarded");
            TypedMap<Integer, Guarded> values = TypedMap.locked(map, Codec.ofInt(), Codec.ofRecord(Guarded.class));
            values.put(1, new Guarded(0, 0, 77));
            assertThat(values.get(1)).as("the lock is not written").contains(new Guarded(0, 0, 0));
            assertThat(values.put(1, new Guarded(1, 1, 0), UpdateMode.NEW_ONLY)).isFalse();
            Thread writer = Thread.ofPlatform().start(() -> {
                for (int i = 1; i <= 20_000; i++) {
                    values.put(1, new Guarded(i, i, 0));
                }
            });
            for (int i = 0; i < 20_000; i++) {
                Guarded value = values.get(1).orElseThrow();
                assertThat(value.left()).isEqualTo(value.right());
            }
            writer.join();
            assertThat(values.toMap()).isEqualTo(Map.of(1, new Guarded(20_000, 20_000, 0)));
            Map<Integer, Guarded> inParts = new HashMap<>();
            TypedMap.Cursor<Integer, Guarded> cursor = values.cursor();
            for (boolean more = true; more; ) {
                more = cursor.next(10, inParts::put);
            }
            assertThat(inParts).isEqualTo(values.toMap());
            assertThat(values.remove(1)).isTrue();
        }
    }

    @Test
    void aMapWithoutLockIsRefused() {
        try (BpfMap map = Maps.create(MapSpec.of("plain", MapType.HASH, 4, 8, 4))) {
            assertThatThrownBy(() -> TypedMap.locked(map, Codec.ofInt(), Codec.ofLong()))
                    .isInstanceOfSatisfying(
                            SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                    .hasMessageContaining("map \"plain\"")
                    .hasMessageContaining("BPF_F_LOCK needs Linux 5.1, and values with a struct bpf_spin_lock");
        }
    }

    @Test
    void theValueOfOneCpuIsReadAndWrittenOrRefusedByName() {
        MemorySegment key = MemorySegment.ofArray(Bpf.key(0));
        MemorySegment value = MemorySegment.ofArray(new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
        try (BpfMap map = Maps.create(MapSpec.of("per_cpu", MapType.PERCPU_ARRAY, 4, 8, 1))) {
            try {
                assertThat(map.update(key, value, BpfMap.F_ALL_CPUS)).isTrue();
            } catch (SyscallException e) {
                assertThat(e).hasMessageContaining("BPF_F_CPU and BPF_F_ALL_CPUS need Linux 7.0");
                assertThatThrownBy(() -> map.lookup(key, value, BpfMap.ofCpu(0)))
                        .hasMessageContaining("BPF_F_CPU and BPF_F_ALL_CPUS need Linux 7.0");
                return;
            }
            MemorySegment read = MemorySegment.ofArray(new byte[8]);
            assertThat(map.lookup(key, read, BpfMap.ofCpu(0))).isTrue();
            assertThat(read.mismatch(value)).isEqualTo(-1);
        }
    }

    /** Returns the value of key 5. */
    @Test
    void aProgramFindsTheContentsOfItsMap() {
        Assembler code = Assembler.create()
                .st(4, R10, -4, 5)
                .movReg(R2, R10)
                .alu(Opcodes.ADD, R2, -4)
                .loadMap(R1, "limits")
                .call("bpf_map_lookup_elem")
                .jump(Opcodes.JEQ, R0, 0, "out")
                .ldx(4, R0, R0, 0)
                .label("out")
                .exit();
        ObjectSpec spec = ObjectSpec.of("test")
                .withMap(MapSpec.of("limits", MapType.HASH, 4, 4, 4)
                        .withContents(Codec.ofInt(), Codec.ofInt(), Map.of(5, 1234, 6, 7)))
                .withProgram(ProgramSpec.of("socket", FunctionSpec.of("limit", code)));
        try (BpfObject object = BpfLoader.of(spec).load()) {
            assertThat(object.program("limit")
                            .test(TestRun.onData(new byte[64]))
                            .returned())
                    .isEqualTo(1234);
        }
        BpfLoader full = BpfLoader.of(spec).map("limits", map -> map.withMaxEntries(1));
        assertThatThrownBy(full::load).hasMessageContaining("full with 1 elements");
    }
}
