package io.bpf4j.loader.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the views ask of the kernel; that it answers so is shown on the real one. */
class MapViewsTest {
    private final ScriptedKernel kernel = new ScriptedKernel();
    private final List<KernelMap> maps = new ArrayList<>();

    @AfterEach
    void nothingStaysOpen() {
        maps.forEach(KernelMap::close);
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void aQueueIsAskedWithoutAKey() {
        QueueMap<Integer> queue = QueueMap.of(create(MapType.QUEUE, 0, 4, 3), Codec.ofInt());
        assertThat(queue.peek()).isEmpty();
        assertThat(queue.push(7)).isTrue();
        assertThat(queue.peek()).contains(7);
        queue.pushOver(8);
        assertThat(queue.pop()).contains(8); // the scripted kernel has one place
        assertThat(kernel.commands(MapCommand.Element.class))
                .allSatisfy(element -> assertThat(element.key().address()).isZero())
                .extracting(MapCommand.Element::op, MapCommand.Element::flags)
                .containsExactly(
                        tuple(MapCommand.Op.LOOKUP, 0L),
                        tuple(MapCommand.Op.UPDATE, 0L),
                        tuple(MapCommand.Op.LOOKUP, 0L),
                        tuple(MapCommand.Op.UPDATE, 2L),
                        tuple(MapCommand.Op.LOOKUP_AND_DELETE, 0L));
        kernel.fail(MapCommand.Element.class, Errno.E2BIG);
        assertThat(queue.push(9)).isFalse();
    }

    @Test
    void aBloomFilterIsAskedAboutTheValue() {
        BloomFilterMap<Integer> filter = BloomFilterMap.of(create(MapType.BLOOM_FILTER, 0, 4, 3), Codec.ofInt());
        kernel.answer(
                MapCommand.Element.class,
                element -> element.value().get(ValueLayout.JAVA_INT, 0) == 5 ? 0 : Errno.ENOENT.number());
        assertThat(filter.mightContain(5)).isTrue();
        assertThat(filter.mightContain(6)).isFalse();
    }

    @Test
    void whatGoesIntoAMapOfMapsIsADescriptorAndComesOutAsAnId() {
        KernelMap inner = create(MapType.ARRAY, 4, 8, 1);
        KernelMap outer = create(MapType.HASH_OF_MAPS, 4, 4, 8);
        MapOfMaps<Integer> view = MapOfMaps.of(outer, Codec.ofInt());
        view.put(3, inner);
        assertThat(kernel.elements(outer.fd()))
                .isEqualTo(Map.of(hex(3), hex(inner.fd().number())));
        // What the real kernel does: the value becomes the id.
        outer.update(bytes(3), bytes(inner.id()));
        assertThat(view.id(3)).hasValue(inner.id());
        assertThat(view.id(4)).isEmpty();
        Map<Integer, Integer> ids = new TreeMap<>();
        view.forEachId(ids::put);
        assertThat(ids).isEqualTo(Map.of(3, inner.id()));
        assertThat(view.remove(3)).isTrue();
    }

    @Test
    void stackTracesEndAtTheFirstZero() {
        KernelMap map = create(MapType.STACK_TRACE, 4, 40, 8);
        map.update(
                bytes(1),
                ByteBuffer.allocate(40)
                        .order(ByteOrder.nativeOrder())
                        .putLong(0x1000)
                        .putLong(-0x2000)
                        .array());
        StackTraceMap traces = StackTraceMap.of(map);
        assertThat(traces.get(1).orElseThrow())
                .containsExactly(new StackTraceMap.Address(0x1000), new StackTraceMap.Address(-0x2000));
        assertThat(traces.get(2)).isEmpty();
        assertThat(traces.ids()).containsExactly(1);
        assertThat(traces.remove(1)).isTrue();
        assertThat(traces.ids()).isEmpty();
    }

    @Test
    void framesWithBuildIdsFallBackToAddresses() {
        KernelMap map = KernelMap.create(
                kernel.host(),
                MapCommand.Create.of(MapType.STACK_TRACE.number(), "m", 4, 96, 8)
                        .withFlags(1 << 5),
                "m");
        maps.add(map);
        ByteBuffer value = ByteBuffer.allocate(96).order(ByteOrder.nativeOrder());
        value.putInt(0, 1).put(4, (byte) 0xab).put(23, (byte) 0xcd).putLong(24, 0x1234);
        value.putInt(32, 2).putLong(56, 0x7fff_1000L);
        map.update(bytes(1), value.array());
        assertThat(StackTraceMap.of(map).get(1).orElseThrow())
                .containsExactly(
                        new StackTraceMap.InFile("ab" + "00".repeat(18) + "cd", 0x1234),
                        new StackTraceMap.Address(0x7fff_1000L));
    }

    @Test
    void viewsAreForTheirKindsOnly() {
        KernelMap hash = create(MapType.HASH, 4, 8, 1);
        assertThatThrownBy(() -> QueueMap.of(hash, Codec.ofLong()))
                .hasMessage("map \"m\" is neither a queue nor a stack");
        assertThatThrownBy(() -> BloomFilterMap.of(hash, Codec.ofLong())).hasMessageContaining("not a bloom filter");
        assertThatThrownBy(() -> MapOfMaps.of(hash, Codec.ofInt())).hasMessageContaining("is not a map of maps");
        assertThatThrownBy(() -> StackTraceMap.of(hash)).hasMessageContaining("is not a stack trace map");
        KernelMap queue = create(MapType.QUEUE, 0, 8, 1);
        assertThatThrownBy(() -> QueueMap.of(queue, Codec.ofInt())).hasMessageContaining("8 bytes");
    }

    private static byte[] bytes(int value) {
        return ByteBuffer.allocate(4)
                .order(ByteOrder.nativeOrder())
                .putInt(value)
                .array();
    }

    private static String hex(int value) {
        return HexFormat.of().formatHex(bytes(value));
    }

    private KernelMap create(MapType type, int keySize, int valueSize, int maxEntries) {
        KernelMap map = KernelMap.create(
                kernel.host(), MapCommand.Create.of(type.number(), "m", keySize, valueSize, maxEntries), "m");
        maps.add(map);
        return map;
    }
}
