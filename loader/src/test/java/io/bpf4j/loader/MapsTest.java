package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.MapAccess;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.MapType;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MapsTest {
    private static final Path PATH = Path.of("/sys/fs/bpf/m");
    private static final MapSpec HASH = MapSpec.of("m", MapType.HASH, 4, 8, 10);

    private final ScriptedKernel kernel = new ScriptedKernel();

    @AfterEach
    void nothingStaysOpen() {
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void aMapIsFoundByItsIdAndByItsPin() {
        try (BpfMap map = create(HASH)) {
            map.pin(PATH);
            map.update(new byte[4], new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
            try (BpfMap byId = Maps.byId(kernel.host(), map.id());
                    BpfMap byPin = Maps.pinned(kernel.host(), PATH)) {
                assertThat(byId.id()).isEqualTo(map.id());
                assertThat(byPin.lookup(new byte[4]).orElseThrow()).startsWith(1, 2);
                assertThat(byPin.name()).isEqualTo("m");
                assertThat(byPin.unpin(PATH)).isTrue();
                assertThat(map.unpin(PATH)).isFalse();
            }
            assertThat(map.info().memoryBytes()).hasValue(4096);
            assertThat(map.info().frozen()).contains(false);
            map.freeze();
            assertThat(map.info().frozen()).contains(true);
        }
        assertThatThrownBy(() -> Maps.pinned(kernel.host(), PATH))
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("ENOENT");
        assertThatThrownBy(() -> Maps.byId(kernel.host(), 77)).isInstanceOf(SyscallException.class);
    }

    @Test
    void aMapIsOpenedWithTheRequestedAccess() {
        try (BpfMap map = create(HASH)) {
            map.pin(PATH);
            try (BpfMap byPin = Maps.pinned(kernel.host(), PATH, MapAccess.READ_ONLY);
                    BpfMap byId = Maps.byId(kernel.host(), map.id(), MapAccess.WRITE_ONLY)) {
                kernel.fail(MapCommand.class, Errno.EPERM);
                assertThatThrownBy(() -> byPin.update(new byte[4], new byte[8]))
                        .isInstanceOf(SyscallException.class)
                        .hasMessageEndingWith("opened with MapAccess.READ_ONLY, so this process can't write to it");
                assertThatThrownBy(byPin::freeze).hasMessageContaining("MapAccess.READ_ONLY");
                assertThatThrownBy(() -> byId.lookup(new byte[4])).hasMessageContaining("MapAccess.WRITE_ONLY");
                assertThatThrownBy(() -> map.delete(new byte[4])).hasMessageContaining("the map is frozen");
            }
        }
        assertThat(kernel.commands(ObjectCommand.Get.class))
                .extracting(ObjectCommand.Get::flags)
                .containsExactly(8);
        assertThat(kernel.commands(ObjectCommand.FdById.class))
                .extracting(ObjectCommand.FdById::flags)
                .containsExactly(16);
    }

    @Test
    void aMapOfMapsIsMadeWithATemplateThatGoesAgain() {
        MapSpec outer = MapSpec.of("outer", MapType.HASH_OF_MAPS, 4, 4, 10).withInner(HASH);
        try (BpfMap map = create(outer)) {
            assertThat(map.typeNumber()).isEqualTo(MapType.HASH_OF_MAPS.number());
            assertThat(kernel.open()).hasSize(1);
            assertThat(kernel.commands(MapCommand.Create.class)).hasSize(2);
        }
        kernel.failNth(2, MapCommand.Create.class, Errno.EINVAL);
        assertThatThrownBy(() -> create(outer)).isInstanceOf(SyscallException.class);
    }

    @Test
    void aMapHasItsContentsOrDoesNotExist() {
        MapSpec filled = HASH.withContents(Codec.ofInt(), Codec.ofLong(), Map.of(1, 10L, 2, 20L));
        try (BpfMap map = create(filled)) {
            assertThat(TypedMap.of(map, Codec.ofInt(), Codec.ofLong()).toMap()).isEqualTo(Map.of(1, 10L, 2, 20L));
        }
        assertThatThrownBy(() -> create(filled.withMaxEntries(1)))
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("the map is full with 1 elements");
        assertThatThrownBy(() -> create(filled.withSizes(4, 16)))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("initial element of map \"m\" has a value of 16 bytes, not of 8");
        MapSpec programs =
                MapSpec.of("m", MapType.PROG_ARRAY, 4, 4, 1).withContents(Codec.ofInt(), Codec.ofInt(), Map.of(0, 7));
        assertThatThrownBy(() -> create(programs))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("MapSpec.withSlots");
    }

    @ParameterizedTest
    @CsvSource({"RINGBUF, RING_BUFFER, 5.8", "USER_RINGBUF, USER_RING_BUFFER, 6.1", "BLOOM_FILTER, BLOOM_FILTER, 5.16"})
    void aKindThatTheKernelLacksIsNamedWithItsVersion(MapType type, Feature feature, String version) {
        kernel.fail(MapCommand.Create.class, Errno.EINVAL);
        MapSpec spec = MapSpec.of("m", type, 0, type == MapType.BLOOM_FILTER ? 8 : 0, 4096);
        assertThatThrownBy(() ->
                        Maps.create(kernel.host(), ScriptedLoads.everything().without(feature), spec))
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessageContaining("create map \"m\"")
                .hasMessageContaining(version);
        assertThatThrownBy(() -> create(spec)).as("it has it").isInstanceOf(SyscallException.class);
    }

    private BpfMap create(MapSpec spec) {
        return Maps.create(kernel.host(), ScriptedLoads.everything(), spec);
    }
}
