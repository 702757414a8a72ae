package io.bpf4j.cli.command;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfFile;
import io.bpf4j.btf.CDeclarations;
import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.InputFile;
import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.Records;
import io.bpf4j.cli.output.Table;
import io.bpf4j.cli.output.Text;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.DryRun;
import io.bpf4j.loader.LoadedTypes;
import io.bpf4j.loader.Types;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.loader.map.MapAccess;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Types that are loaded, and types in files.
 *
 * <p>Tested by {@code CliInspectionTest}.
 */
@Command(
        name = "btf",
        description =
                "Lists and shows loaded BTF, and dumps the types of it, of a kernel or of a file, as C or as stored. "
                        + "'minimize KERNEL OUT OBJECT...' writes the part of a kernel's BTF that objects need for CO-RE.",
        footer = {
            "  bpf4j btf",
            "  bpf4j btf dump vmlinux --format c > vmlinux.h",
            "  bpf4j btf dump program.bpf.o",
            "  bpf4j btf dump 4711 --format c",
            "  bpf4j btf minimize 5.4.0-91-generic.btf needed.btf program.bpf.o"
        })
final class BtfCommand extends KernelObjectCommand {
    private static final KernelObjects<LoadedTypes> LOADED =
            new KernelObjects<>("BTF", Types::ids, Types::info, _ -> {});

    /** The types themselves. */
    private static final KernelObjects<Btf> CONTENTS = new KernelObjects<>("BTF", Types::ids, Types::byId, _ -> {});

    /** The forms of a dump. */
    enum Format {
        RAW,
        C
    }

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "WORD",
            description = "What to do: list (the default), show, dump or minimize.")
    private String word = "list";

    @Parameters(
            index = "1..*",
            arity = "0..*",
            paramLabel = "BTF",
            description = "To show, the id of loaded BTF; to dump, an id, vmlinux, the name of a module, or a file.")
    private List<String> operands = new ArrayList<>();

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description = "dump: raw, the types as they are stored (the default), or c, a header for C programs.")
    private Format format = Format.RAW;

    @Option(
            names = "--base",
            paramLabel = "BTF",
            description = "dump: the kernel's BTF that the BTF of a module in a file is based on.")
    private @Nullable Path base;

    BtfCommand(Console console) {
        super(console);
    }

    @Override
    public Integer call() throws IOException {
        if (json && format == Format.C) {
            throw new UsageException("--json and --format c can't be used together: a C header is not JSON");
        }
        return run(word, operands);
    }

    @Override
    void list() {
        Users users = Users.find();
        Table table =
                new Table("").header("ID", "NAME", "SIZE", "PROGRAMS", "MAPS").keeping(1);
        LOADED.forEach(types -> {
            if (json) {
                console.line(json(types, users));
            } else {
                table.row(
                        Integer.toString(types.id()),
                        types.name().isEmpty() ? "-" : types.name(),
                        Long.toString(types.size()),
                        LoadedThings.joinedNumbers(users.programs(types)),
                        LoadedThings.joinedNumbers(users.maps(types)));
            }
        });
        printList(table);
    }

    /** By the id of BTF, the ids of the programs and maps that were made with it. */
    private record Users(Map<Integer, List<Integer>> programs, Map<Integer, List<Integer>> maps) {
        static Users find() {
            Users users = new Users(new HashMap<>(), new HashMap<>());
            ProgCommand.source()
                    .loaded()
                    .forEach(program -> users.programs
                            .computeIfAbsent(program.info().btfId(), _ -> new ArrayList<>())
                            .add(program.id()));
            MapCommand.source(MapAccess.READ_ONLY)
                    .loaded()
                    .forEach(map -> users.maps
                            .computeIfAbsent(map.info().btfId(), _ -> new ArrayList<>())
                            .add(map.id()));
            return users;
        }

        List<Integer> programs(LoadedTypes types) {
            return programs.getOrDefault(types.id(), List.of());
        }

        List<Integer> maps(LoadedTypes types) {
            return maps.getOrDefault(types.id(), List.of());
        }
    }

    private static String json(LoadedTypes types, Users users) {
        JsonLine line = Records.begin("btf")
                .field("id", types.id())
                .field("name", types.name())
                .field("kernel", types.ofKernel())
                .field("size", types.size())
                .key("program_ids")
                .beginArray();
        users.programs(types).forEach(line::value);
        line.endArray().key("map_ids").beginArray();
        users.maps(types).forEach(line::value);
        return line.endArray().endObject().toString();
    }

    @Override
    void show(String object) {
        if (!KernelObjects.isId(object)) {
            throw new UsageException("'" + object + "' is not the id of loaded BTF");
        }
        LoadedTypes types = LOADED.byId(object);
        Users users = Users.find();
        if (json) {
            console.line(json(types, users));
            return;
        }
        console.line("BTF " + types.id());
        new Table("  ")
                .row("name", types.name().isEmpty() ? "none, because a process loaded it" : types.name())
                .row("size", types.size() + " bytes")
                .row("programs", LoadedThings.joinedNumbers(users.programs(types)))
                .row("maps", LoadedThings.joinedNumbers(users.maps(types)))
                .print(console);
    }

    @Override
    void dump(String object) throws IOException {
        Btf types = types(object);
        try {
            if (format == Format.C) {
                CDeclarations.of(types).header("__VMLINUX_H__", new LineOutput());
                return;
            }
            for (int id = types.firstId(); id < types.typeCount(); id++) {
                List<String> lines = BtfListing.lines(types, id);
                if (json) {
                    console.line(json(types, id, lines));
                } else {
                    lines.forEach(console::line);
                }
            }
        } catch (MalformedDataException e) {
            console.flush();
            throw new CommandException(e.getMessage() + "; the output ends here", e);
        }
    }

    private static String json(Btf types, int id, List<String> lines) {
        JsonLine line = Records.begin("btf_type")
                .field("id", id)
                .field("kind", types.kind(id).name())
                .field("name", types.name(id));
        LoadedThings.texts(line, "text", lines.stream().map(String::strip).toList());
        return line.endObject().toString();
    }

    /** Passes on text line by line, so that a header of megabytes takes little memory. */
    private final class LineOutput implements Appendable {
        private final StringBuilder line = new StringBuilder();

        @Override
        public Appendable append(CharSequence text) {
            return append(text, 0, text.length());
        }

        @Override
        public Appendable append(CharSequence text, int start, int end) {
            for (int i = start; i < end; i++) {
                append(text.charAt(i));
            }
            return this;
        }

        @Override
        public Appendable append(char c) {
            if (c == '\n') {
                console.line(line.toString());
                line.setLength(0);
            } else {
                line.append(c);
            }
            return this;
        }
    }

    /** The types of an id, a file, the kernel or a module. */
    private Btf types(String operand) throws IOException {
        if (KernelObjects.isId(operand)) {
            return CONTENTS.byId(operand);
        }
        if (operand.equals("vmlinux")) {
            return Types.ofKernel();
        }
        Path file = Operands.checked(Path::of, operand, operand);
        if (base != null) {
            return BtfFile.read(InputFile.check(file), BtfFile.read(InputFile.check(base)));
        }
        if (operand.indexOf('/') < 0 && !Files.exists(file)) {
            return Types.ofModule(operand)
                    .orElseThrow(
                            () -> new CommandException(
                                    "'" + operand
                                            + "' is neither a file nor a loaded module with BTF, nor vmlinux, nor the id of loaded BTF"));
        }
        return Host.running().sys().resolve("kernel/btf").equals(file.getParent()) && !file.endsWith("vmlinux")
                ? BtfFile.read(InputFile.check(file), Types.ofKernel())
                : BtfFile.read(InputFile.check(file), OpenFile.opener(Host.running()));
    }

    @Override
    void other(String other, List<String> its) throws IOException {
        switch (other) {
            case "minimize" -> {
                expect(other, its.size() >= 3, "the BTF of a kernel, the file to write, and the objects");
                minimize(its);
            }
            case "pin" -> throw new UsageException("BTF can't be pinned; pin the program or map that was made with it");
            default -> throw new UsageException("'" + other + "' is not list, show, dump or minimize");
        }
    }

    /** Writes the part of a kernel's types that objects need for their relocations into a file. */
    private void minimize(List<String> its) throws IOException {
        Btf kernel = types(its.getFirst());
        List<ObjectSpec> objects = new ArrayList<>();
        for (String operand : its.subList(2, its.size())) {
            Path object = Operands.checked(Path::of, operand, operand);
            objects.add(ObjectSpec.read(InputFile.check(object), OpenFile.opener(Host.running())));
        }
        Btf needed = DryRun.neededTypes(kernel, objects.toArray(ObjectSpec[]::new));
        OutputFile file = new OutputFile(Operands.checked(Path::of, its.get(1), its.get(1)));
        file.check();
        file.write(needed.raw());
        int types = needed.typeCount() - 1;
        int bytes = needed.raw().length;
        console.line(
                json
                        ? Records.begin("minimized")
                                .field("file", its.get(1))
                                .field("types", types)
                                .field("bytes", bytes)
                                .endObject()
                                .toString()
                        : Text.printable("wrote " + its.get(1) + ": " + types + " types in " + bytes + " bytes"));
    }
}
