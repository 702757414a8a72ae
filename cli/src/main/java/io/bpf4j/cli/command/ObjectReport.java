package io.bpf4j.cli.command;

import io.bpf4j.btf.BtfExt;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.Records;
import io.bpf4j.cli.output.Table;
import io.bpf4j.cli.output.Text;
import io.bpf4j.loader.spec.CodeReference;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.GlobalSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.StructOpsSpec;
import io.bpf4j.sys.kernel.ProgramType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Describes an object, as text or JSON. <i>Confined.</i>
 *
 * <p>Tested by {@code ObjectCommandsTest} and {@code CliTest}.
 */
final class ObjectReport {
    private final ObjectSpec spec;
    /**
     * The names of functions by section and slot, filled on first use: an object may have a hundred thousand functions.
     */
    private final Map<List<Integer>, String> names = new HashMap<>();

    /** The relocations by section, in the order of their slots. */
    private final Map<String, List<BtfExt.CoreRelocation>> relocations = new HashMap<>();

    ObjectReport(ObjectSpec spec) {
        this.spec = spec;
    }

    /** A relocation as text. */
    private record Row(String function, int instruction, String kind, String target) {}

    void print(Console console) {
        console.line(Text.printable(spec.source() + ": " + order() + ", license \"" + spec.license() + "\""));
        table(console, "PROGRAM SECTION TYPE INSTRUCTIONS", spec.programs(), ObjectReport::cells);
        table(console, "SUBPROGRAM SECTION INSTRUCTIONS", subprograms(), ObjectReport::cells);
        table(console, "MAP TYPE KEY VALUE ENTRIES FLAGS", spec.maps(), ObjectReport::cells);
        table(console, "STRUCT_OPS STRUCT SECTION FUNCTIONS", spec.structOps(), ObjectReport::cells);
        table(console, "GLOBAL SECTION OFFSET SIZE", spec.globals(), ObjectReport::cells);
        table(console, "EXTERN KIND WEAK", spec.externs(), ObjectReport::cells);
        table(console, "FUNCTION INSTRUCTION RELOCATION TO", relocations(), ObjectReport::cells);
        console.line("  " + btf());
    }

    /** Prints a table with a row for each element, if there are any. */
    private static <T> void table(Console console, String header, List<T> elements, Function<T, List<String>> cells) {
        if (!elements.isEmpty()) {
            Table table = new Table("  ").row(header.split(" ", -1));
            elements.forEach(element -> table.row(cells.apply(element).toArray(String[]::new)));
            table.print(console);
            console.line("");
        }
    }

    private static List<String> cells(ProgramSpec program) {
        return List.of(
                program.name(),
                program.sectionName(),
                type(program),
                Integer.toString(program.function().size()));
    }

    private static List<String> cells(FunctionSpec function) {
        return List.of(function.name(), function.sectionName(), Integer.toString(function.size()));
    }

    private static List<String> cells(MapSpec map) {
        return List.of(
                map.name(),
                type(map),
                map.keySize() + " B",
                map.valueSize() + " B",
                Integer.toUnsignedString(map.maxEntries()),
                "0x" + Integer.toHexString(map.flags()));
    }

    private static List<String> cells(StructOpsSpec struct) {
        return List.of(
                struct.name(),
                struct.type(),
                (struct.autocreate() ? "" : "?") + struct.sectionName(),
                struct.functions().entrySet().stream()
                        .map(function -> function.getKey() + "=" + function.getValue())
                        .collect(Collectors.joining(" ")));
    }

    private static List<String> cells(GlobalSpec global) {
        return List.of(global.name(), global.map(), Integer.toString(global.offset()), global.size() + " B");
    }

    private static List<String> cells(ExternSpec extern) {
        return List.of(extern.name(), lower(extern.kind()), extern.weak() ? "yes" : "no");
    }

    private static List<String> cells(Row relocation) {
        return List.of(
                relocation.function(),
                Integer.toString(relocation.instruction()),
                relocation.kind(),
                relocation.target());
    }

    String json() {
        JsonLine line = Records.begin("object")
                .field("file", spec.source())
                .field("byteOrder", order())
                .field("license", spec.license());
        array(line, "programs", spec.programs(), ObjectReport::add);
        array(line, "subprograms", subprograms(), ObjectReport::add);
        array(line, "maps", spec.maps(), ObjectReport::add);
        array(line, "structOps", spec.structOps(), ObjectReport::add);
        array(line, "globals", spec.globals(), ObjectReport::add);
        array(line, "externs", spec.externs(), ObjectReport::add);
        array(line, "relocations", relocations(), ObjectReport::add);
        line.key("btf");
        if (spec.btf().isEmpty()) {
            line.value((String) null);
        } else {
            line.beginObject()
                    .field("types", spec.btf().get().typeCount() - 1)
                    .field("functions", records(BtfRecords.FUNCTIONS))
                    .field("lines", records(BtfRecords.LINES))
                    .field("coreRelocations", records(BtfRecords.RELOCATIONS))
                    .endObject();
        }
        return line.endObject().toString();
    }

    /** Adds an array of objects, each of which {@code fields} fills. */
    private static <T> void array(JsonLine line, String name, List<T> elements, BiConsumer<JsonLine, T> fields) {
        line.key(name).beginArray();
        for (T element : elements) {
            line.beginObject();
            fields.accept(line, element);
            line.endObject();
        }
        line.endArray();
    }

    private static void add(JsonLine line, ProgramSpec program) {
        line.field("name", program.name())
                .field("section", program.sectionName())
                .field("type", type(program))
                .field("autoload", program.autoload())
                .field("sleepable", program.isSleepable())
                .field("instructions", program.function().size());
    }

    private static void add(JsonLine line, FunctionSpec function) {
        line.field("name", function.name())
                .field("section", function.sectionName())
                .field("instructions", function.size());
    }

    private static void add(JsonLine line, MapSpec map) {
        line.field("name", map.name())
                .field("type", type(map))
                .field("keySize", map.keySize())
                .field("valueSize", map.valueSize())
                .field("maxEntries", Integer.toUnsignedLong(map.maxEntries()))
                .field("flags", Integer.toUnsignedLong(map.flags()))
                .field("pinByName", map.pinByName());
    }

    private static void add(JsonLine line, StructOpsSpec struct) {
        line.field("name", struct.name())
                .field("struct", struct.type())
                .field("section", struct.sectionName())
                .field("autocreate", struct.autocreate());
        line.key("functions").beginObject();
        struct.functions().forEach(line::field);
        line.endObject();
    }

    private static void add(JsonLine line, GlobalSpec global) {
        line.field("name", global.name())
                .field("section", global.map())
                .field("offset", global.offset())
                .field("size", global.size());
    }

    private static void add(JsonLine line, ExternSpec extern) {
        line.field("name", extern.name()).field("kind", lower(extern.kind())).field("weak", extern.weak());
    }

    private static void add(JsonLine line, Row relocation) {
        line.field("function", relocation.function())
                .field("instruction", relocation.instruction())
                .field("kind", relocation.kind())
                .field("target", relocation.target());
    }

    private String order() {
        return spec.order() == java.nio.ByteOrder.LITTLE_ENDIAN ? "little-endian" : "big-endian";
    }

    private List<FunctionSpec> subprograms() {
        Set<FunctionSpec> entries =
                spec.programs().stream().map(ProgramSpec::function).collect(Collectors.toSet());
        return spec.functions().stream().filter(f -> !entries.contains(f)).toList();
    }

    private static String type(ProgramSpec program) {
        return program.type() == ProgramType.UNSPEC ? "unknown" : lower(program.type());
    }

    private static String type(MapSpec map) {
        return map.type().map(ObjectReport::lower).orElse("type " + map.typeNumber());
    }

    private static String lower(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    private List<Row> relocations() {
        List<Row> rows = new ArrayList<>();
        for (FunctionSpec function : spec.functions()) {
            for (CodeReference reference : function.references()) {
                rows.add(row(function, reference));
            }
            spec.btfExt().ifPresent(ext -> addCore(rows, function, ext));
        }
        return rows;
    }

    private Row row(FunctionSpec function, CodeReference reference) {
        int at = reference.instruction();
        return switch (reference) {
            case CodeReference.ToMap map -> new Row(function.name(), at, "map", map.map());
            case CodeReference.ToData data -> new Row(function.name(), at, "data", data.map() + "+" + data.offset());
            case CodeReference.ToFunction used ->
                new Row(
                        function.name(),
                        at,
                        function.instructions().get(at).isCall() ? "call" : "function address",
                        functionAt(used.section(), used.slot()));
            case CodeReference.ToNamedFunction used -> new Row(function.name(), at, "call", used.name());
            case CodeReference.ToExtern extern -> new Row(function.name(), at, "extern", extern.name());
            case CodeReference.ToJumpTable table ->
                new Row(function.name(), at, "jump table", table.slots().size() + " entries");
            case CodeReference.ToKernelFunction call -> new Row(function.name(), at, "kernel function", call.name());
        };
    }

    private String functionAt(int section, int slot) {
        if (names.isEmpty()) {
            spec.functions().forEach(f -> names.putIfAbsent(List.of(f.section(), f.slot()), f.name()));
        }
        return names.getOrDefault(List.of(section, slot), "slot " + slot + " of section " + section);
    }

    private void addCore(List<Row> rows, FunctionSpec function, BtfExt ext) {
        List<BtfExt.CoreRelocation> sorted = relocations.computeIfAbsent(
                function.sectionName(),
                section -> ext.relocations().of(section).stream()
                        .sorted(Comparator.comparingLong(BtfExt.CoreRelocation::offset))
                        .toList());
        for (int i = firstFrom(sorted, function.slot()); i < sorted.size(); i++) {
            long slot = sorted.get(i).offset() / 8 - function.slot();
            if (slot >= function.size()) {
                break;
            }
            rows.add(new Row(function.name(), (int) slot, "co-re", spec.describe(sorted.get(i))));
        }
    }

    /** The index of the first relocation at a slot or after it. */
    private static int firstFrom(List<BtfExt.CoreRelocation> sorted, int slot) {
        int low = 0;
        int high = sorted.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (sorted.get(middle).offset() / 8 < slot) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private enum BtfRecords {
        FUNCTIONS,
        LINES,
        RELOCATIONS
    }

    private long records(BtfRecords kind) {
        return spec.btfExt()
                .map(ext -> switch (kind) {
                    case FUNCTIONS -> count(ext.functions());
                    case LINES -> count(ext.lines());
                    case RELOCATIONS -> count(ext.relocations());
                })
                .orElse(0L);
    }

    private static long count(BtfExt.Table<?> table) {
        return table.sections().stream().mapToLong(s -> s.records().size()).sum();
    }

    private String btf() {
        return spec.btf()
                .map(types -> "BTF: " + (types.typeCount() - 1) + " types, " + records(BtfRecords.FUNCTIONS)
                        + " functions, " + records(BtfRecords.LINES) + " lines, " + records(BtfRecords.RELOCATIONS)
                        + " CO-RE relocations")
                .orElse("no BTF");
    }
}
