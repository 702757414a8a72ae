package io.bpf4j.cli.command;

import io.bpf4j.btf.CDeclarations;
import io.bpf4j.btf.TypedValue;
import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.Records;
import io.bpf4j.cli.output.Table;
import io.bpf4j.cli.output.Text;
import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.Maps;
import io.bpf4j.loader.Pin;
import io.bpf4j.loader.Types;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.CType;
import io.bpf4j.loader.map.MapAccess;
import io.bpf4j.sys.kernel.MapInfo;
import io.bpf4j.sys.kernel.MapType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Maps that exist, of any process.
 *
 * <p>Tested by {@code CliInspectionTest}.
 */
@Command(
        name = "map",
        description = "Lists, shows, dumps and pins maps, of any process. Keys and values are shown by their C types.",
        footer = {
            "  bpf4j map",
            "  bpf4j map dump counters",
            "  bpf4j map dump 4711 --count 10 --json",
            "  bpf4j map pin 4711 /sys/fs/bpf/counters"
        })
final class MapCommand extends PinnableCommand {
    @Option(names = "--count", paramLabel = "N", description = "dump: end after N elements.")
    private long count = Long.MAX_VALUE;

    MapCommand(Console console) {
        super(console);
    }

    static Source<BpfMap> source(MapAccess access) {
        return new Source<>(
                new KernelObjects<>("map", Maps::ids, id -> Maps.byId(id, access), BpfMap::close),
                path -> Maps.pinned(path, access),
                map -> map.info().name(),
                BpfMap::id);
    }

    static String type(MapInfo info) {
        return MapType.of(info.typeNumber()).map(LoadedThings::lowerCase).orElse("type " + info.typeNumber());
    }

    @Override
    void list() throws IOException {
        KernelObjects<BpfMap> maps = source(MapAccess.READ_ONLY).loaded().listed();
        LoadedThings things = new LoadedThings(console);
        Table table = new Table("")
                .header("ID", "TYPE", "NAME", "KEY", "VALUE", "ENTRIES", "MEMORY", "HELD BY")
                .keeping(1);
        maps.forEach(map -> {
            MapInfo info = map.info();
            if (json) {
                console.line(json(info, things));
            } else {
                table.row(
                        Integer.toString(info.id()),
                        type(info),
                        info.name(),
                        Integer.toUnsignedString(info.keySize()),
                        Integer.toUnsignedString(info.valueSize()),
                        Integer.toUnsignedString(info.maxEntries()),
                        info.memoryBytes().isPresent()
                                ? Long.toString(info.memoryBytes().getAsLong())
                                : "-",
                        things.heldBy(Pin.Kind.MAP, info.id()));
            }
        });
        printList(table);
    }

    private static String json(MapInfo info, LoadedThings things) {
        JsonLine line = Records.begin("map")
                .field("id", info.id())
                .field("name", info.name())
                .field("map_type", type(info))
                .field("key_size", Integer.toUnsignedLong(info.keySize()))
                .field("value_size", Integer.toUnsignedLong(info.valueSize()))
                .field("max_entries", Integer.toUnsignedLong(info.maxEntries()))
                .field("flags", Integer.toUnsignedLong(info.flags()))
                .field("btf_id", info.btfId());
        info.memoryBytes().ifPresent(bytes -> line.field("memory_bytes", bytes));
        info.frozen().ifPresent(frozen -> line.field("frozen", frozen));
        things.addTo(line, Pin.Kind.MAP, info.id());
        return line.endObject().toString();
    }

    @Override
    void show(String object) throws IOException {
        try (BpfMap map = source(MapAccess.READ_ONLY).open(object)) {
            MapInfo info = map.info();
            LoadedThings things = new LoadedThings(console);
            if (json) {
                console.line(json(info, things));
                return;
            }
            console.line(Text.printable("map " + info.id() + " " + info.name()));
            Table table = new Table("  ")
                    .row("type", type(info))
                    .row("key", Integer.toUnsignedString(info.keySize()) + " bytes" + typeName(() -> Types.ofKey(map)))
                    .row(
                            "value",
                            Integer.toUnsignedString(info.valueSize()) + " bytes" + typeName(() -> Types.ofValue(map)))
                    .row("entries", "at most " + Integer.toUnsignedString(info.maxEntries()))
                    .row("flags", "0x" + Integer.toHexString(info.flags()))
                    .row("BTF", info.btfId() == 0 ? "none" : Integer.toString(info.btfId()));
            info.memoryBytes().ifPresent(bytes -> table.row("memory", bytes + " bytes"));
            info.frozen().filter(frozen -> frozen).ifPresent(_ -> table.row("frozen", "user space can't write"));
            things.addTo(table, Pin.Kind.MAP, info.id());
            table.print(console);
        }
    }

    private static String typeName(Supplier<Optional<CType>> type) {
        return known(type)
                .map(known -> {
                    String text;
                    try {
                        text = CDeclarations.of(known.btf()).declaration(known.id(), "");
                    } catch (MalformedDataException e) {
                        return ""; // its C declaration is too long
                    }
                    // A section of variables, or a struct without a name, has no short text.
                    return text.equals("void") || text.contains("\n") ? "" : ", " + text;
                })
                .orElse("");
    }

    /** Invalid types of another user must not prevent the output. */
    private static Optional<CType> known(Supplier<Optional<CType>> type) {
        try {
            return type.get();
        } catch (MalformedDataException e) {
            return Optional.empty();
        }
    }

    @Override
    void dump(String object) {
        if (count < 1) {
            throw new UsageException("--count takes a number of elements, 1 or more");
        }
        try (BpfMap map = source(MapAccess.READ_ONLY).open(object)) {
            if (map.keySize() == 0) {
                throw new CommandException("map " + map.id() + " is a " + type(map.info())
                        + ", which has no keys; its content can't be read without being changed");
            }
            Elements elements = new Elements(map);
            if (count == Long.MAX_VALUE) {
                map.forEach(elements::take);
                return;
            }
            long left = count;
            for (byte[] key : map.keys()) {
                if (left-- <= 0) {
                    break;
                }
                map.lookup(key)
                        .ifPresent(value -> elements.take(MemorySegment.ofArray(key), MemorySegment.ofArray(value)));
            }
        }
    }

    /** Shows one element after the other, so that a map of any size takes little memory. */
    private final class Elements {
        private Optional<CType> keyType;
        private Optional<CType> valueType;
        private final int keySize;
        private final int valueSize;
        private final boolean perCpu;

        /** What a value is the id of, {@code program} or {@code map}; empty if it is no id. */
        private final Optional<String> idOf;

        Elements(BpfMap map) {
            keySize = map.keySize();
            valueSize = map.valueSize();
            keyType = fitting(() -> Types.ofKey(map), keySize);
            valueType = fitting(() -> Types.ofValue(map), valueSize);
            perCpu = map.type().map(MapType::isPerCpu).orElse(false);
            idOf = map.type().flatMap(Elements::idOf).filter(_ -> valueSize == Integer.BYTES);
        }

        private static Optional<String> idOf(MapType type) {
            return switch (type) {
                case PROG_ARRAY -> Optional.of("program");
                case ARRAY_OF_MAPS, HASH_OF_MAPS -> Optional.of("map");
                default -> Optional.empty();
            };
        }

        /** A type of another size is not the one of the bytes. */
        private static Optional<CType> fitting(Supplier<Optional<CType>> type, int size) {
            return known(() -> type.get().filter(known -> known.size() == Integer.toUnsignedLong(size)));
        }

        void take(MemorySegment key, MemorySegment value) {
            byte[] keyBytes = key.asSlice(0, keySize).toArray(ValueLayout.JAVA_BYTE);
            List<byte[]> values = values(value);
            List<String> lines;
            try {
                lines = lines(keyBytes, values);
            } catch (MalformedDataException e) {
                // The kernel accepts types whose members overlap in any number, or have more than 64 bits.
                console.remark("keys and values are shown as bytes: " + e.getMessage());
                keyType = Optional.empty();
                valueType = Optional.empty();
                lines = lines(keyBytes, values);
            }
            lines.forEach(console::line);
        }

        private List<String> lines(byte[] keyBytes, List<byte[]> values) {
            if (json) {
                JsonLine line = Records.begin("element").key("key");
                add(line, keyType, keyBytes);
                if (perCpu) {
                    line.key("values").beginArray();
                    values.forEach(each -> add(line, valueType, each));
                    line.endArray();
                } else {
                    line.key("value");
                    if (idOf.isPresent()) {
                        line.value(id(values.getFirst()));
                    } else {
                        add(line, valueType, values.getFirst());
                    }
                }
                return List.of(line.endObject().toString());
            }
            String shownKey = text(keyType, keyBytes);
            if (idOf.isPresent()) {
                return List.of(shownKey + ": " + idOf.get() + " " + id(values.getFirst()));
            }
            if (!perCpu) {
                return List.of(shownKey + ": " + text(valueType, values.getFirst()));
            }
            List<String> lines = new ArrayList<>(List.of(shownKey + ":"));
            for (int cpu = 0; cpu < values.size(); cpu++) {
                lines.add("  cpu " + cpu + ": " + text(valueType, values.get(cpu)));
            }
            return lines;
        }

        /** The values of all CPUs, each of which takes a multiple of 8 bytes; else the one value. */
        private List<byte[]> values(MemorySegment value) {
            List<byte[]> values = new ArrayList<>();
            long step = perCpu ? (Integer.toUnsignedLong(valueSize) + 7) / 8 * 8 : value.byteSize();
            for (long at = 0; at == 0 || at + valueSize <= value.byteSize(); at += step) {
                values.add(value.asSlice(at, perCpu ? valueSize : step).toArray(ValueLayout.JAVA_BYTE));
                if (step == 0 || at + step >= value.byteSize()) {
                    break;
                }
            }
            return values;
        }

        private static long id(byte[] value) {
            return view(value).u32(0);
        }

        private static ByteView view(byte[] bytes) {
            return ByteView.of("element", bytes, ByteOrder.nativeOrder());
        }

        private static String text(Optional<CType> type, byte[] bytes) {
            return type.map(known -> TypedValue.text(known.btf(), known.id(), view(bytes)))
                    .orElseGet(() -> HexFormat.ofDelimiter(" ").formatHex(bytes));
        }

        private static void add(JsonLine line, Optional<CType> type, byte[] bytes) {
            ValueJson json = new ValueJson(line);
            type.ifPresentOrElse(
                    known -> TypedValue.visit(known.btf(), known.id(), view(bytes), json), () -> json.bytes(bytes));
        }
    }

    @Override
    void pin(String object, Path path) {
        try (BpfMap map = source(MapAccess.READ_WRITE).open(object)) {
            map.pin(path);
        }
    }
}
