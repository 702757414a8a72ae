package io.bpf4j.test.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** libbpf 1.3 or later, which loads objects and pins their programs: newer than what bpftool has in it. */
public final class LibbpfLoader {
    private LibbpfLoader() {}

    private static final class Built {
        static final Optional<Path> PROGRAM = build();
    }

    /** The program that {@code test/libbpf/loadall} builds when it is first asked for. */
    static Optional<Path> program() {
        return Built.PROGRAM;
    }

    private static Optional<Path> build() {
        Path module = TargetProgram.testModule();
        Path program = module.resolve("target/libbpf/loadall");
        boolean there = Files.isExecutable(program)
                || Commands.succeeds(module.resolve("libbpf/loadall").toString());
        return there ? Optional.of(program) : Optional.empty();
    }

    /**
     * Loads an object and pins its programs.
     *
     * @param directory of a BPF file system; made
     * @param optional those of its optional programs to load, too
     */
    public static Commands.Result loadAll(Path object, Path directory, List<String> optional)
            throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of(program().orElseThrow().toString(), object.toString(), directory.toString()));
        command.addAll(optional);
        return Commands.run(command);
    }
}
