package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Static, hidden and weak variables and functions as the kernel takes them, and global data of another size. */
@Requires(Requirement.BPF)
@ExtendWith(LeakCheck.class)
@Timeout(300)
class LinkageOnKernelTest {
    private static final String OBJECT = "linkage.bpf.o";
    private static final TestRun PACKET = TestRun.onData(new byte[64]);

    @Test
    void hiddenAndWeakOnesDoTheirWork() {
        try (BpfObject object = Bpf.load(OBJECT)) {
            int failed = object.program("linkage").test(PACKET).returned();
            assertThat(failed).as("linkage.bpf.c:%d", failed).isZero();
            assertThat(object.map(".data.locked").flags() & MapSpec.F_MMAPABLE).isZero();
            assertThat(object.map(".data").flags() & MapSpec.F_MMAPABLE).isNotZero();
            assertThat(Bpf.u64(object, "guarded")).isEqualTo(40);
            assertThat(Bpf.element(object.map("weak_map"), 0).getLong()).isEqualTo(7);
        }
    }

    @Test
    @Requires(Requirement.LOCK_IN_DATA)
    void aLockIsAmongHiddenVariables() {
        try (BpfObject object = Bpf.load(OBJECT, loader -> loader.program("locked", p -> p.withAutoload(true)))) {
            int failed = object.program("locked").test(PACKET).returned();
            assertThat(failed).as("linkage.bpf.c:%d", failed).isZero();
            assertThat(Bpf.u64(object, "guarded")).isEqualTo(42);
            object.global("guarded").setLong(1);
            assertThat(Bpf.u64(object, "guarded")).isEqualTo(1);
        }
    }

    @Test
    @Requires(Requirement.LOCK_IN_DATA)
    void theKernelMapsNoLock() {
        try (BpfObject object =
                Bpf.load(OBJECT, loader -> loader.map(".data.locked", map -> map.withFlags(MapSpec.F_MMAPABLE)))) {
            assertThatThrownBy(() -> object.global("guarded")).isInstanceOf(SyscallException.class);
        }
    }

    @Test
    void anArrayAtTheEndOfASectionGrows() {
        try (BpfObject object = Bpf.load(
                OBJECT,
                loader -> loader.map(".data.samples", map -> map.withSizes(4, 400))
                        .global("sample_count", 100))) {
            assertThat(object.program("fill").test(PACKET).returned()).isZero();
            BpfMap map = object.map(".data.samples");
            assertThat(map.valueSize()).isEqualTo(400);
            ByteBuffer samples = Bpf.global(object, "samples");
            assertThat(samples.capacity()).isEqualTo(400);
            assertThat(samples.getInt(99 * 4)).isEqualTo(100);
            // The kernel has its type.
            assertThat(map.info().valueTypeId()).isPositive();
        }
    }
}
