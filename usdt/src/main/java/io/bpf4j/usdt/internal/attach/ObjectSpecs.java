package io.bpf4j.usdt.internal.attach;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.ObjectExtension;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.usdt.internal.spec.BtfLayout;
import io.bpf4j.usdt.internal.spec.SharedSpecs;
import io.bpf4j.usdt.internal.spec.SpecIdPool;
import io.bpf4j.usdt.internal.spec.SpecLayout;
import io.bpf4j.usdt.internal.spec.SpecTable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * The spec map of an object, its layout and the spec IDs in use: one per object, shared by all attachments of its
 * programs. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code UsdtTransactionTest}.
 */
public final class ObjectSpecs implements ObjectExtension {
    private static final Key<ObjectSpecs> KEY = new Key<>("usdt", ObjectSpecs.class, ObjectSpecs::new);

    private final Optional<SpecMap> specMap;

    private record SpecMap(SpecLayout layout, SharedSpecs specs) {}

    private ObjectSpecs(BpfObject object) {
        this.specMap = object.findMap(SpecLayout.MAP).map(map -> {
            SpecLayout layout = layout(object, map);
            return new SpecMap(layout, new SharedSpecs(new SpecIdPool(map.maxEntries()), (spec, id) -> {
                byte[] key = new byte[4];
                ByteBuffer.wrap(key).order(ByteOrder.nativeOrder()).putInt(id);
                map.update(key, spec);
            }));
        });
    }

    public static ObjectSpecs of(BpfObject object) {
        return object.extension(KEY);
    }

    private static SpecLayout layout(BpfObject object, BpfMap map) {
        ByteOrder order = ByteOrder.nativeOrder();
        int valueType =
                object.spec().findMap(map.name()).map(MapSpec::valueTypeId).orElse(0);
        return object.spec()
                .btf()
                .filter(btf -> valueType != 0)
                .flatMap(btf -> BtfLayout.of(btf, valueType))
                .filter(layout -> layout.size() == map.valueSize() && layout.order() == order)
                .or(() -> SpecLayout.ofValueSize(map.valueSize(), order))
                .orElseThrow(
                        () -> new InvalidObjectException("map '" + map.name() + "' has values of " + map.valueSize()
                                + " bytes; the specs of libbpf's usdt.bpf.h have 208 (up to 1.6) or 304 (since 1.7),"
                                + " and its BTF describes no other layout"));
    }

    /**
     * A new table for one attachment; empty if the object has no spec map, which {@code usdt.bpf.h} declares. Then its
     * programs can't read arguments.
     */
    public Optional<SpecTable> newTable() {
        return specMap.map(f -> new SpecTable(f.layout(), f.specs()));
    }

    /** Spec IDs in use by all attachments together. */
    public int idsInUse() {
        return specMap.map(f -> f.specs().pool().inUse()).orElse(0);
    }

    /** The map belongs to the object; nothing else needs closing. */
    @Override
    public void close() {}
}
