package io.bpf4j.test.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** libbpf's own headers for BPF programs, in the versions that users have compiled their objects with. */
public enum LibbpfHeaders {
    /** The machine's: in Debian's stable releases one whose argument specs are 208 bytes long in all. */
    INSTALLED,
    /** One of 1.7 or later: 304 bytes, and arguments with an index register. Brought by {@code test/libbpf/headers}. */
    NEWER;

    private static final Path SYSTEM = Path.of("/usr/include");
    private static final Map<LibbpfHeaders, Path> COMPILED = new ConcurrentHashMap<>();

    private static final class Fetched {
        static final Optional<Path> FOLDER = fetch();
    }

    /** Where {@code bpf/usdt.bpf.h} is. */
    Optional<Path> folder() {
        return switch (this) {
            case INSTALLED -> Optional.of(SYSTEM).filter(LibbpfHeaders::hasHeader);
            case NEWER -> Fetched.FOLDER;
        };
    }

    private static boolean hasHeader(Path folder) {
        return Files.exists(folder.resolve("bpf/usdt.bpf.h"));
    }

    private static Optional<Path> fetch() {
        Path module = TargetProgram.testModule();
        Path folder = module.resolve("target/libbpf/include");
        boolean there = hasHeader(folder)
                || (Requirement.isRoot()
                        && Commands.succeeds(module.resolve("libbpf/headers").toString()));
        return there ? Optional.of(folder) : Optional.empty();
    }

    /** Whether these know arguments with an index register, and so have specs of 304 bytes rather than 208. */
    public boolean haveIndexedArguments() {
        try {
            return Files.readString(folder().orElseThrow().resolve("bpf/usdt.bpf.h"))
                    .contains("BPF_USDT_ARG_SIB");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The object that clang makes of {@code bpf/libbpf_args12.c} with these headers. */
    public Path object() {
        return COMPILED.computeIfAbsent(this, LibbpfHeaders::compile);
    }

    private Path compile() {
        try {
            Path object = TargetProgram.temporaryFolder().resolve("libbpf_args12.bpf.o");
            List<String> command = new ArrayList<>(List.of(
                    Commands.clang().orElseThrow().toString(),
                    "-g",
                    "-O2",
                    "-target",
                    "bpf",
                    "-mcpu=v3",
                    "-D__TARGET_ARCH_x86",
                    "-D__x86_64__",
                    "-DSECTION=\"usdt\""));
            if (this != INSTALLED) {
                command.add("-I" + folder().orElseThrow());
            }
            command.addAll(List.of(
                    "-I/usr/include/x86_64-linux-gnu",
                    "-c",
                    TargetProgram.testModule()
                            .resolve("src/test/c/bpf/libbpf_args12.c")
                            .toString(),
                    "-o",
                    object.toString()));
            Commands.check(command);
            return object;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while compiling a BPF object", e);
        }
    }
}
