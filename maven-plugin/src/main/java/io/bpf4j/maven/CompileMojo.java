package io.bpf4j.maven;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.maven.model.Resource;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.jspecify.annotations.Nullable;

/**
 * Compiles BPF programs: each NAME.bpf.c of the source folder to the resources NAME.bpf.o, for little-endian machines,
 * and big/NAME.bpf.o, for big-endian ones, in the folder of the package. A source is compiled again if it, a file that
 * it includes, the compiler or an argument has changed.
 */
@Mojo(name = "compile", defaultPhase = LifecyclePhase.GENERATE_SOURCES, threadSafe = true)
public final class CompileMojo extends BpfMojo {
    private static final String SOURCE_SUFFIX = ".bpf.c";

    /** The folder of the sources. It may have a folder include, in which headers are found by #include <…>. */
    @Parameter(property = "bpf4j.sourceDirectory", defaultValue = "src/main/bpf")
    @SuppressWarnings("NullAway.Init")
    private String sourceDirectory;

    /** More folders with headers, relative to the project's. They come before bpf4j's own headers. */
    @Parameter
    private List<String> includeDirectories = new ArrayList<>();

    /** The compiler: a name on PATH, or a path; by default clang, or the newest clang-N. */
    @Parameter(property = "bpf4j.clang")
    private @Nullable String clang;

    /** More arguments for the compiler. */
    @Parameter
    private List<String> clangArguments = new ArrayList<>();

    @Override
    void run() throws MojoFailureException, IOException, InterruptedException {
        Path sources = baseDirectory().resolve(sourceDirectory).normalize();
        List<Path> programs = files(sources, SOURCE_SUFFIX);
        if (programs.isEmpty()) {
            getLog().info("no " + shown(sources) + "/*" + SOURCE_SUFFIX);
        }
        Path little = inPackage(resources());
        Path big = little.resolve(BIG);
        Set<Path> objects = new HashSet<>();
        int compiled = 0;
        List<String> refused = new ArrayList<>();
        if (!programs.isEmpty()) {
            Path found = Clang.find(clang, baseDirectory(), System.getenv("PATH"));
            Path headers = Headers.unpack(buildDirectory().resolve("bpf4j/include"));
            Clang compiler = new Clang(found, sources, arguments(sources, headers), getLog());
            for (Path program : programs) {
                String name = program.getFileName().toString().replaceFirst("\\.c$", ".o");
                objects.add(little.resolve(name));
                objects.add(big.resolve(name));
                Path state = inPackage(buildDirectory().resolve("bpf4j/state")).resolve(name);
                switch (compiler.compile(program, little.resolve(name), big.resolve(name), state)) {
                    case COMPILED -> compiled++;
                    case REFUSED -> refused.add(shown(program));
                    case CURRENT -> {}
                }
            }
            if (!refused.isEmpty()) {
                throw new MojoFailureException(
                        found + " did not compile " + String.join(", ", refused) + "; its messages are above");
            }
            getLog().info(compiled + " of " + programs.size() + " BPF programs compiled, the others are up to date");
        }
        keepOnly(little, OBJECT_SUFFIX, objects);
        keepOnly(big, OBJECT_SUFFIX, objects);
        addResources();
    }

    /** Relative paths where it is possible: an object contains them, and should be the same wherever it is built. */
    private List<String> arguments(Path sources, Path headers) {
        List<String> arguments = new ArrayList<>();
        Path own = sources.resolve("include");
        if (Files.isDirectory(own)) {
            arguments.add("-Iinclude");
        }
        for (String directory : includeDirectories) {
            Path folder = baseDirectory().resolve(directory).normalize();
            arguments.add("-I" + (folder.startsWith(baseDirectory()) ? sources.relativize(folder) : folder));
        }
        arguments.add("-I" + sources.relativize(headers));
        arguments.addAll(clangArguments);
        return arguments;
    }

    private void addResources() {
        String folder = resources().toString();
        if (project.getResources().stream().noneMatch(known -> folder.equals(known.getDirectory()))) {
            Resource resource = new Resource();
            resource.setDirectory(folder);
            project.addResource(resource);
        }
    }
}
