package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A hash map that grows. */
@Requires({Requirement.BPF, Requirement.RESIZABLE_HASH})
@ExtendWith(LeakCheck.class)
class ResizableHashOnKernelTest {
    private static BpfObject load() {
        return Bpf.load("resizable.bpf.o", loader -> loader.program("count", p -> p.withAutoload(true)));
    }

    private static byte[] key(int key) {
        return ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()).putInt(key).array();
    }

    @Test
    void programsAndUserSpaceShareIt() {
        try (BpfObject object = load()) {
            BpfMap counts = object.map("counts");
            for (int key = 0; key < 500; key++) {
                for (int time = 0; time < 2; time++) {
                    assertThat(object.program("count")
                                    .test(TestRun.onContext(key(key)))
                                    .returned())
                            .isEqualTo(time);
                }
            }
            assertThat(counts.lookup(key(499)))
                    .hasValueSatisfying(value -> assertThat(ByteBuffer.wrap(value)
                                    .order(ByteOrder.nativeOrder())
                                    .getLong())
                            .isEqualTo(2));
            assertThat(counts.delete(key(499))).isTrue();
            assertThat(counts.lookup(key(499))).isEmpty();
            assertThat(counts.keys()).hasSize(499);
        }
    }
}
