package io.bpf4j.cli.command;

import io.bpf4j.bindings.BindingsGenerator;
import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.InputFile;
import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.elf.FileOpener;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.process.peer.HeldFolder;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Writes the Java class of an object file. Does not use the kernel and needs no privilege.
 *
 * <p>Tested by {@code GenerateCommandTest}.
 */
@Command(
        name = "generate",
        description = "Writes a Java class for a BPF object: its maps, programs, variables and types. Needs no root.",
        footer = {
            "  bpf4j generate --package org.example -d src/main/java gc.bpf.o",
            "  bpf4j generate --event events=conn_event --class Connections conn.bpf.o"
        })
final class GenerateCommand implements Callable<Integer> {
    /** Longer than the first line of a generated file can be. */
    private static final int MAX_FIRST_LINE = 8192;

    private final Console console;

    @Option(names = "--package", paramLabel = "NAME", description = "Package of the class; none by default.")
    private String packageName = "";

    @Option(
            names = "--class",
            paramLabel = "NAME",
            description = "Name of the class; by default that of the file: GcPauses for gc-pauses.bpf.o.")
    private @Nullable String className;

    @Option(
            names = {"-d", "--directory"},
            paramLabel = "DIR",
            description =
                    "The source folder, in which the folders of the package are, or are made; the working directory by "
                            + "default.")
    private Path directory = Path.of("");

    @Option(
            names = "--event",
            paramLabel = "MAP=STRUCT",
            description = "The type of the records of a ring buffer or perf buffer. By default the struct of the map's "
                    + "name, or of its name without a final s.")
    private Map<String, String> events = new LinkedHashMap<>();

    @Option(names = "--struct", paramLabel = "NAME", description = "One more struct to generate a class for.")
    private List<String> structs = new ArrayList<>();

    @Option(
            names = "--both-orders",
            description =
                    "There is an object for each byte order: on big-endian machines the class reads the resource in "
                            + "its folder big.")
    private boolean bothOrders;

    @Option(names = "--force", description = "Overwrite a file that bpf4j did not generate.")
    private boolean force;

    @Option(names = "--json", description = "Print what was written as a JSON object.")
    private boolean json;

    @Parameters(paramLabel = "FILE", description = "A BPF object with BTF, as clang -g -target bpf -c makes it.")
    private Path file = Path.of("");

    GenerateCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws IOException {
        FileOpener opener = OpenFile.opener(Host.running());
        ObjectSpec spec = ObjectSpec.read(InputFile.check(file), opener);
        String name = className == null ? BindingsGenerator.classNameOf(file.toString()) : className;
        BindingsGenerator generator = generator(spec, name);
        String source = generator.source();
        Path target = packageFolder().resolve(name + ".java");
        checkExisting(target, opener);
        write(target, source);
        report(generator, target, name);
        return CommandTree.OK;
    }

    private BindingsGenerator generator(ObjectSpec spec, String name) {
        BindingsGenerator generator;
        try {
            generator = BindingsGenerator.of(spec, name).withPackage(packageName);
            if (bothOrders) {
                generator = generator.withBothByteOrders();
            }
        } catch (IllegalArgumentException e) {
            throw new UsageException(String.valueOf(e.getMessage()));
        }
        try {
            for (Map.Entry<String, String> event : events.entrySet()) {
                generator = generator.withEvent(event.getKey(), event.getValue());
            }
        } catch (IllegalArgumentException e) {
            throw new CommandException(String.valueOf(e.getMessage()), e);
        }
        for (String struct : structs) {
            generator = generator.withStruct(struct);
        }
        return generator;
    }

    private List<String> packageParts() {
        return packageName.isEmpty() ? List.of() : List.of(packageName.split("\\.", -1));
    }

    private Path packageFolder() {
        Path folder = directory;
        for (String part : packageParts()) {
            folder = folder.resolve(part);
        }
        return folder;
    }

    private void checkExisting(Path target, FileOpener opener) throws IOException {
        if (force || !Files.exists(target)) {
            return;
        }
        try (FileOpener.Opened opened = opener.open(target);
                InputStream in = Files.newInputStream(opened.path())) {
            String start = new String(in.readNBytes(MAX_FIRST_LINE), StandardCharsets.UTF_8);
            if (!BindingsGenerator.isGenerated(start)) {
                throw new CommandException("'" + target + "' exists, and bpf4j did not generate it: name another class"
                        + " by --class, or overwrite it by --force");
            }
        }
    }

    /** Makes the folders of the package and writes the file, completely or not at all. */
    private void write(Path target, String source) throws IOException {
        if (!Files.isDirectory(directory.toAbsolutePath())) {
            throw new CommandException("'" + directory + "' is not a directory");
        }
        Deque<Path> made = new ArrayDeque<>();
        boolean written = false;
        try {
            Path folder = directory;
            for (String part : packageParts()) {
                Path parent = folder;
                folder = parent.resolve(part);
                if (Files.isSymbolicLink(folder)) {
                    break; // OutputFile decides whether the link may be followed
                }
                if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
                    if (made.isEmpty()) {
                        checkNobodyElseCanMove(parent);
                    }
                    made.push(Files.createDirectory(folder));
                }
            }
            new OutputFile(target).write(writer -> writer.write(source));
            written = true;
        } finally {
            while (!written && !made.isEmpty()) {
                Files.deleteIfExists(made.pop());
            }
        }
    }

    /**
     * Lets root make folders only where nobody else can put a link in the place of a folder on the way, which would have
     * root make and delete folders elsewhere. Another user could make them there anyway, if at all.
     */
    private static void checkNobodyElseCanMove(Path parent) throws IOException {
        int user = OutputFile.ownUser();
        if (user != 0) {
            return;
        }
        HeldFolder folder = HeldFolder.root(Host.running());
        try {
            for (Path name : parent.toRealPath()) {
                HeldFolder outer = folder;
                folder = outer.folder(name)
                        .orElseThrow(() -> new CommandException("'" + parent + "' was replaced meanwhile"));
                outer.close();
                if (!folder.isSafeFor(user)) {
                    throw new CommandException(
                            "can't make a folder in '" + parent
                                    + "', because another user can change what that path refers to: make the folders of the package first");
                }
            }
        } finally {
            folder.close();
        }
    }

    private void report(BindingsGenerator generator, Path target, String name) {
        String resource = String.join("/", packageParts()) + (packageParts().isEmpty() ? "" : "/") + file.getFileName();
        Map<String, String> known = generator.events();
        List<String> unknown = generator.unknownEvents();
        if (json) {
            JsonLine line = new JsonLine()
                    .beginObject()
                    .field("type", "class")
                    .field("file", target.toString())
                    .field("class", packageName.isEmpty() ? name : packageName + "." + name)
                    .field("resource", resource)
                    .key("events")
                    .beginArray();
            known.forEach((map, struct) ->
                    line.beginObject().field("map", map).field("struct", struct).endObject());
            line.endArray().key("unknown").beginArray();
            unknown.forEach(line::value);
            console.line(line.endArray().endObject().toString());
            return;
        }
        console.line("wrote " + target + "; " + name + ".open() reads the resource " + resource);
        known.forEach((map, struct) -> {
            if (!events.containsKey(map)) {
                console.line("map " + map + ": records of type " + struct + ", by its name; --event " + map
                        + "=STRUCT sets another type");
            }
        });
        unknown.forEach(map ->
                console.line("map " + map + ": records of unknown type; --event " + map + "=STRUCT sets their type"));
    }
}
