package io.bpf4j.test.support;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The program of {@code src/test/c/asked}, whose events are known. */
public final class AskedProgram {
    private AskedProgram() {}

    /** Compiles it into a folder, so that its stacks can be walked. */
    public static Path compile(Path folder) throws IOException, InterruptedException {
        Path source = TargetProgram.testModule().resolve("src/test/c/asked/main.c");
        Path program = folder.resolve("asked");
        Commands.check(List.of(
                "gcc",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-O2",
                CPrograms.WALKABLE,
                // On s390x each function with a frame is in the chain.
                System.getProperty("os.arch").equals("s390x") ? "-mbackchain" : "-mno-omit-leaf-frame-pointer",
                "-o",
                program.toString(),
                source.toString(),
                "-pthread"));
        return program;
    }
}
