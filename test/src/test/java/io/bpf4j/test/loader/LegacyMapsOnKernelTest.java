package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Maps of the section {@code maps}, from before BTF. */
@Requires(Requirement.BPF)
@ExtendWith(LeakCheck.class)
class LegacyMapsOnKernelTest {

    @Test
    void mapsFromBeforeBtfWork() {
        try (BpfObject object = Bpf.load("legacy.bpf.o")) {
            BpfMap array = object.map("old_array");
            BpfMap hash = object.map("old_hash");
            assertThat(array.type()).hasValue(MapType.ARRAY);
            assertThat(array.maxEntries()).isEqualTo(4);
            assertThat(hash.type()).hasValue(MapType.HASH);
            array.update(
                    Bpf.bytes(4).putInt(1).array(), Bpf.bytes(8).putLong(42).array());
            assertThat(object.program("copy").test(TestRun.onData(new byte[64])).returned())
                    .isEqualTo(42);
            assertThat(hash.lookup(Bpf.bytes(4).putInt(1).array()))
                    .hasValueSatisfying(
                            value -> assertThat(Bpf.buffer(value).getLong()).isEqualTo(42));
            MapSpec annotated = object.spec().map("old_hash");
            assertThat(annotated.keyTypeId()).as("the type of the key").isPositive();
            assertThat(object.spec().map("old_array").keyTypeId()).isZero();
        }
    }
}
