package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.Records;
import io.bpf4j.cli.output.Table;
import io.bpf4j.cli.output.Text;
import io.bpf4j.loader.Pin;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.ProgramCode;
import io.bpf4j.loader.Programs;
import io.bpf4j.loader.link.LinkInfo;
import io.bpf4j.sys.kernel.ProgramInfo;
import io.bpf4j.sys.kernel.ProgramType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Programs that are loaded, of any process.
 *
 * <p>Tested by {@code CliInspectionTest}.
 */
@Command(
        name = "prog",
        description = "Lists, shows, dumps and pins loaded programs, of any process.",
        footer = {
            "  bpf4j prog",
            "  bpf4j prog show 4711",
            "  bpf4j prog dump 4711",
            "  bpf4j prog dump /sys/fs/bpf/filter --machine-code",
            "  bpf4j prog pin filter /sys/fs/bpf/filter"
        })
final class ProgCommand extends PinnableCommand {
    private static final int HEX_BYTES = 16;

    @Option(
            names = "--machine-code",
            description = "dump: the machine code instead of the instructions, in hexadecimal.")
    private boolean machineCode;

    ProgCommand(Console console) {
        super(console);
    }

    static Source<Program> source() {
        return new Source<>(
                new KernelObjects<>("program", Programs::ids, Programs::byId, Program::close),
                Programs::pinnedReadOnly,
                program -> program.info().name(),
                Program::id);
    }

    static String type(ProgramInfo info) {
        return ProgramType.of(info.typeNumber()).map(LoadedThings::lowerCase).orElse("type " + info.typeNumber());
    }

    @Override
    void list() throws IOException {
        KernelObjects<Program> programs = source().loaded().listed();
        LoadedThings things = new LoadedThings(console);
        Map<Integer, List<LinkInfo>> links = LoadedThings.linksByProgram(console);
        Table table = new Table("")
                .header("ID", "TYPE", "NAME", "ATTACHED TO", "MAPS", "HELD BY")
                .keeping(1);
        programs.forEach(program -> {
            ProgramInfo info = program.info();
            List<LinkInfo> attached = links.getOrDefault(info.id(), List.of());
            if (json) {
                console.line(json(info, attached, things));
            } else {
                table.row(
                        Integer.toString(info.id()),
                        type(info),
                        info.name(),
                        LoadedThings.joined(
                                attached.stream().map(LinkText::target).toList()),
                        LoadedThings.joinedNumbers(info.mapIds()),
                        things.heldBy(Pin.Kind.PROGRAM, info.id()));
            }
        });
        printList(table);
    }

    private static String json(ProgramInfo info, List<LinkInfo> attached, LoadedThings things) {
        JsonLine line = Records.begin("program")
                .field("id", info.id())
                .field("name", info.name())
                .field("program_type", type(info))
                .field("tag", info.tag())
                .field("gpl_compatible", info.gplCompatible())
                .field("uid", Integer.toUnsignedLong(info.uid()))
                .field("loaded_at", LoadedThings.timeOfDay(info.loadedAt()))
                .field("instruction_bytes", info.instructionBytes())
                .field("machine_code_bytes", info.machineCodeBytes())
                .field("verified_instructions", info.verifiedInstructions())
                .field("btf_id", info.btfId())
                .field("run_ns", info.runTime().toNanos())
                .field("run_count", info.runCount())
                .field("missed", info.missed());
        line.key("map_ids").beginArray();
        info.mapIds().forEach(line::value);
        line.endArray().key("links").beginArray();
        attached.forEach(link -> line.beginObject()
                .field("id", link.id())
                .field("link_type", LinkText.kind(link))
                .field("target", LinkText.target(link))
                .endObject());
        line.endArray();
        things.addTo(line, Pin.Kind.PROGRAM, info.id());
        return line.endObject().toString();
    }

    @Override
    void show(String object) throws IOException {
        try (Program program = source().open(object)) {
            ProgramInfo info = program.info();
            LoadedThings things = new LoadedThings(console);
            List<LinkInfo> attached = LoadedThings.linksByProgram(console).getOrDefault(info.id(), List.of());
            if (json) {
                console.line(json(info, attached, things));
                return;
            }
            console.line(Text.printable("program " + info.id() + " " + info.name()));
            Table table = new Table("  ")
                    .row("type", type(info))
                    .row("tag", info.tag())
                    .row("license", info.gplCompatible() ? "GPL-compatible" : "not GPL-compatible")
                    .row(
                            "loaded",
                            LoadedThings.timeOfDay(info.loadedAt()) + " by user "
                                    + Integer.toUnsignedString(info.uid()))
                    .row(
                            "instructions",
                            info.instructionBytes() / 8 + " after verification, which looked at "
                                    + info.verifiedInstructions())
                    .row("machine code", info.machineCodeBytes() == 0 ? "none" : info.machineCodeBytes() + " bytes")
                    .row("maps", LoadedThings.joinedNumbers(info.mapIds()))
                    .row("BTF", info.btfId() == 0 ? "none" : Integer.toString(info.btfId()));
            attached.forEach(link -> table.row(
                    "attached to", LinkText.shown(link) + " (" + LinkText.kind(link) + " link " + link.id() + ")"));
            if (info.runCount() > 0) {
                table.row("runs", info.runCount() + ", " + info.runTime().toNanos() / info.runCount() + " ns each");
            }
            if (info.missed() > 0) {
                table.row("missed runs", Long.toString(info.missed()));
            }
            things.addTo(table, Pin.Kind.PROGRAM, info.id());
            table.print(console);
        }
    }

    @Override
    void dump(String object) {
        try (Program program = source().open(object)) {
            ProgramCode code = program.code();
            if (json) {
                console.line(json(program.id(), code));
            } else if (machineCode) {
                printMachineCode(code);
            } else {
                printInstructions(code);
            }
        }
    }

    private void printInstructions(ProgramCode code) {
        if (code.instructions().isEmpty()) {
            console.remark("the kernel does not show the instructions to this process: needs CAP_BPF");
        }
        Map<Integer, List<ProgramCode.SourceLine>> lines =
                code.lines().stream().collect(Collectors.groupingBy(ProgramCode.SourceLine::slot));
        Map<Integer, ProgramCode.Function> functions = code.functions().stream()
                .filter(function -> !function.name().isEmpty())
                .collect(Collectors.toMap(ProgramCode.Function::slot, function -> function, (first, _) -> first));
        String indent = functions.isEmpty() ? "" : "  ";
        for (String instruction : code.disassemble()) {
            int slot = Integer.parseInt(instruction.substring(0, instruction.indexOf(':')));
            ProgramCode.Function function = functions.get(slot);
            if (function != null) {
                console.line(Text.printable(function.name()) + ":");
            }
            lines.getOrDefault(slot, List.of()).forEach(line -> console.line(source(line)));
            console.line(indent + Text.printable(instruction));
        }
    }

    private static String source(ProgramCode.SourceLine line) {
        return Text.printable("; " + line.text().strip() + "  [" + line.file() + ":" + line.line() + "]");
    }

    private void printMachineCode(ProgramCode code) {
        byte[] bytes = code.machineCode();
        Iterator<ProgramCode.SourceLine> lines =
                code.lines().stream().filter(line -> line.address() != 0).iterator();
        ProgramCode.SourceLine next = lines.hasNext() ? lines.next() : null;
        int start = 0;
        for (ProgramCode.Function function : code.functions()) {
            int end = Math.min(bytes.length, start + function.machineCodeBytes());
            console.line(Text.printable(function.name().isEmpty() ? "function" : function.name()) + ": "
                    + function.machineCodeBytes() + " bytes"
                    + (function.address() == 0 ? "" : " at 0x" + Long.toHexString(function.address())));
            int at = start;
            while (at < end) {
                long address = function.address() + at - start;
                while (next != null && next.address() == address) {
                    console.line(source(next));
                    next = lines.hasNext() ? lines.next() : null;
                }
                // A row ends where the next source line begins.
                long toLine = next == null || function.address() == 0 ? HEX_BYTES : next.address() - address;
                int to = (int) Math.min(end, at + (toLine > 0 ? Math.min(HEX_BYTES, toLine) : HEX_BYTES));
                console.line("  %5x:  %s"
                        .formatted(at - start, HexFormat.ofDelimiter(" ").formatHex(bytes, at, to)));
                at = to;
            }
            start = end;
        }
        if (bytes.length == 0) {
            console.remark("the kernel has no machine code of this program, or does not show it to this process");
        }
    }

    private static String json(int id, ProgramCode code) {
        JsonLine line = Records.begin("code").field("id", id).key("functions").beginArray();
        for (ProgramCode.Function function : code.functions()) {
            line.beginObject()
                    .field("name", function.name())
                    .field("slot", function.slot())
                    .unsignedField("address", function.address())
                    .field("machine_code_bytes", function.machineCodeBytes())
                    .endObject();
        }
        line.endArray().key("instructions").beginArray();
        code.disassemble().forEach(line::value);
        line.endArray().key("lines").beginArray();
        for (ProgramCode.SourceLine source : code.lines()) {
            line.beginObject()
                    .field("slot", source.slot())
                    .unsignedField("address", source.address())
                    .field("file", source.file())
                    .field("line", source.line())
                    .field("column", source.column())
                    .field("text", source.text())
                    .endObject();
        }
        return line.endArray()
                .field("machine_code", HexFormat.of().formatHex(code.machineCode()))
                .endObject()
                .toString();
    }

    @Override
    void pin(String object, Path path) {
        try (Program program = source().open(object)) {
            program.pin(path);
        }
    }
}
