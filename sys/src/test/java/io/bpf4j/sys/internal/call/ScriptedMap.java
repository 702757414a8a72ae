package io.bpf4j.sys.internal.call;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapInfo;
import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A map of the {@link ScriptedKernel}: an array in one block of memory, which can be mapped, or anything else as a
 * table of byte arrays. Errors are those of the kernel.
 */
final class ScriptedMap {
    /** The flags that are a mode; others, such as BPF_F_LOCK, change nothing here. */
    private static final long MODES = 3;

    private static final int NEW_ONLY = 1;
    private static final int EXISTING_ONLY = 2;
    private static final long LARGEST = 32 << 20;
    private static final HexFormat HEX = HexFormat.of();

    private final MapCommand.Create create;
    private final int id;
    private final boolean array;
    private final int stride;
    private final long bytes;
    private @Nullable MemorySegment memory;
    private final Map<String, byte[]> table = new LinkedHashMap<>();
    private boolean frozen;

    /** What no test means: a broken object does, and a kernel refuses it. */
    static boolean isTooLarge(MapCommand.Create create) {
        long entries = Integer.toUnsignedLong(create.maxEntries());
        return create.keySize() < 0
                || create.valueSize() < 0
                || create.valueSize() > LARGEST
                || (hasMemory(create) && entries * bytes(create) > LARGEST);
    }

    private static boolean isArena(MapCommand.Create create) {
        return create.type() == MapType.ARENA.number();
    }

    /** Of one entry: those of an arena are pages. */
    private static int bytes(MapCommand.Create create) {
        return isArena(create) ? 4096 : Math.max(1, create.valueSize());
    }

    private static boolean hasMemory(MapCommand.Create create) {
        return MapType.of(create.type())
                .filter(t ->
                        t == MapType.ARRAY || t == MapType.RINGBUF || t == MapType.USER_RINGBUF || t == MapType.ARENA)
                .isPresent();
    }

    ScriptedMap(MapCommand.Create create, int id) {
        this.create = create;
        this.id = id;
        Optional<MapType> type = MapType.of(create.type());
        this.array = type.filter(t -> t == MapType.ARRAY).isPresent();
        this.stride = (create.valueSize() + 7) / 8 * 8;
        long size = array ? (long) stride * create.maxEntries() : isArena(create) ? 4096L * create.maxEntries() : 0;
        // Whole pages and one more, as much as anyone maps; ring buffers map two pages and the data twice.
        long rounded = (size + 4095) / 4096 * 4096 + 4096;
        boolean ring = type.filter(t -> t == MapType.RINGBUF || t == MapType.USER_RINGBUF)
                .isPresent();
        this.bytes = ring ? 8192 + 2L * create.maxEntries() : rounded;
    }

    MapInfo info() {
        return new MapInfo(
                id,
                create.name().substring(0, Math.min(15, create.name().length())),
                create.type(),
                create.keySize(),
                create.valueSize(),
                create.maxEntries(),
                create.flags(),
                create.extra(),
                0,
                0,
                create.types().key(),
                create.types().value(),
                0,
                0,
                OptionalLong.of(4096),
                Optional.of(frozen),
                OptionalInt.empty());
    }

    MemorySegment memory(long offset, long size) {
        return memory().asSlice(offset, size);
    }

    /** Made when it is first used: most maps of broken objects never are, and some have 32 MiB. */
    private MemorySegment memory() {
        if (memory == null) {
            memory = Arena.ofAuto().allocate(bytes, 4096);
        }
        return memory;
    }

    int freeze() {
        frozen = true;
        return 0;
    }

    Map<String, String> elements() {
        Map<String, String> elements = new LinkedHashMap<>();
        table.forEach((key, value) -> elements.put(key, HEX.formatHex(value)));
        return elements;
    }

    int element(MapCommand.Element element) {
        boolean writes = element.op() == MapCommand.Op.UPDATE
                || element.op() == MapCommand.Op.DELETE
                || element.op() == MapCommand.Op.LOOKUP_AND_DELETE;
        if (writes && frozen) {
            return Errno.EPERM.number();
        }
        Errno errno = array ? ofArray(element) : ofTable(element);
        return errno.number();
    }

    /**
     * What the kernel does for arrays and hash maps; other kinds have no batches here. The token of a walk is how many
     * elements came before.
     */
    MapCommand.BatchResult batch(MapCommand.Batch batch) {
        boolean table = MapType.of(create.type())
                .filter(t -> t == MapType.HASH || t == MapType.PERCPU_HASH)
                .isPresent();
        boolean supported = switch (batch.op()) {
            case LOOKUP, UPDATE -> table || array;
            case DELETE, LOOKUP_AND_DELETE -> table;
        };
        if (!supported) {
            return new MapCommand.BatchResult(Errno.ENOTSUPP.number(), batch.count());
        }
        if (frozen && batch.op() != MapCommand.BatchOp.LOOKUP) {
            return new MapCommand.BatchResult(Errno.EPERM.number(), batch.count());
        }
        return switch (batch.op()) {
            case LOOKUP, LOOKUP_AND_DELETE -> readBatch(batch);
            case UPDATE, DELETE -> writeBatch(batch);
        };
    }

    private MapCommand.BatchResult readBatch(MapCommand.Batch batch) {
        int start = batch.position().address() == 0 ? 0 : batch.position().get(JAVA_INT_UNALIGNED, 0);
        List<byte[]> keys = new ArrayList<>();
        if (array) {
            for (int i = 0; i < create.maxEntries(); i++) {
                keys.add(ByteBuffer.allocate(4)
                        .order(ByteOrder.nativeOrder())
                        .putInt(i)
                        .array());
            }
        } else {
            table.keySet().forEach(key -> keys.add(HEX.parseHex(key)));
        }
        boolean deletes = batch.op() == MapCommand.BatchOp.LOOKUP_AND_DELETE;
        int count = Math.min(batch.count(), keys.size() - start);
        long valueSize = count == 0 ? 0 : batch.values().byteSize() / batch.count();
        for (int i = 0; i < count; i++) {
            byte[] key = keys.get(start + i);
            MemorySegment.copy(key, 0, batch.keys(), JAVA_BYTE, (long) i * key.length, key.length);
            MemorySegment value = batch.values().asSlice(i * valueSize, valueSize);
            if (array) {
                MemorySegment.copy(memory(), (long) (start + i) * stride, value, 0, valueSize);
            } else {
                byte[] stored = deletes ? table.remove(HEX.formatHex(key)) : table.get(HEX.formatHex(key));
                give(Objects.requireNonNull(stored), value);
            }
        }
        batch.nextPosition().set(JAVA_INT_UNALIGNED, 0, deletes ? 0 : start + count);
        boolean end = start + count == keys.size();
        return new MapCommand.BatchResult(end ? Errno.ENOENT.number() : 0, count);
    }

    private MapCommand.BatchResult writeBatch(MapCommand.Batch batch) {
        boolean updates = batch.op() == MapCommand.BatchOp.UPDATE;
        long valueSize = updates ? batch.values().byteSize() / batch.count() : 0;
        for (int i = 0; i < batch.count(); i++) {
            MemorySegment value = updates ? batch.values().asSlice(i * valueSize, valueSize) : MemorySegment.NULL;
            int errno = element(new MapCommand.Element(
                    updates ? MapCommand.Op.UPDATE : MapCommand.Op.DELETE,
                    batch.map(),
                    batch.keys().asSlice((long) i * create.keySize(), create.keySize()),
                    value,
                    batch.elementFlags()));
            if (errno != 0) {
                return new MapCommand.BatchResult(errno, i);
            }
        }
        return new MapCommand.BatchResult(0, batch.count());
    }

    private Errno ofArray(MapCommand.Element element) {
        int index = element.key().address() == 0
                ? -1
                : ByteBuffer.wrap(key(element)).order(ByteOrder.nativeOrder()).getInt();
        boolean inside = index >= 0 && index < create.maxEntries();
        return switch (element.op()) {
            case LOOKUP -> {
                if (!inside) {
                    yield Errno.ENOENT;
                }
                MemorySegment.copy(memory(), (long) index * stride, element.value(), 0, create.valueSize());
                yield Errno.OK;
            }
            case UPDATE -> {
                if (!inside) {
                    yield Errno.E2BIG;
                }
                if ((element.flags() & MODES) == NEW_ONLY) {
                    yield Errno.EEXIST;
                }
                MemorySegment.copy(element.value(), 0, memory(), (long) index * stride, create.valueSize());
                yield Errno.OK;
            }
            case NEXT_KEY -> {
                int next = inside ? index + 1 : 0;
                if (next == create.maxEntries()) {
                    yield Errno.ENOENT;
                }
                element.value().set(JAVA_INT_UNALIGNED, 0, next);
                yield Errno.OK;
            }
            case DELETE, LOOKUP_AND_DELETE -> Errno.EINVAL;
        };
    }

    private Errno ofTable(MapCommand.Element element) {
        if (element.op() == MapCommand.Op.NEXT_KEY) {
            return nextKey(element);
        }
        String key = HEX.formatHex(key(element));
        byte[] value = table.get(key);
        return switch (element.op()) {
            case LOOKUP -> value == null ? Errno.ENOENT : give(value, element.value());
            case UPDATE -> {
                if (value != null && (element.flags() & MODES) == NEW_ONLY) {
                    yield Errno.EEXIST;
                }
                if (value == null && (element.flags() & MODES) == EXISTING_ONLY) {
                    yield Errno.ENOENT;
                }
                if (value == null && table.size() == create.maxEntries()) {
                    yield Errno.E2BIG;
                }
                table.put(
                        key,
                        ScriptedKernel.bytes(element.value(), element.value().byteSize()));
                yield Errno.OK;
            }
            case DELETE -> table.remove(key) == null ? Errno.ENOENT : Errno.OK;
            case LOOKUP_AND_DELETE -> {
                if (value == null) {
                    yield Errno.ENOENT;
                }
                table.remove(key);
                yield give(value, element.value());
            }
            case NEXT_KEY -> throw new AssertionError("handled above");
        };
    }

    /** Starts over where the given key is gone, as hash maps do. */
    private Errno nextKey(MapCommand.Element element) {
        Iterator<String> keys = table.keySet().iterator();
        String given = element.key().address() == 0 ? "" : HEX.formatHex(key(element));
        if (table.containsKey(given)) {
            while (!keys.next().equals(given)) {
                // Go on to the given key.
            }
        }
        return keys.hasNext() ? give(HEX.parseHex(keys.next()), element.value()) : Errno.ENOENT;
    }

    private byte[] key(MapCommand.Element element) {
        return create.keySize() == 0 ? new byte[0] : ScriptedKernel.bytes(element.key(), create.keySize());
    }

    private static Errno give(byte[] bytes, MemorySegment room) {
        MemorySegment.copy(bytes, 0, room, JAVA_BYTE, 0, bytes.length);
        return Errno.OK;
    }
}
