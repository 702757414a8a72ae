package io.bpf4j.maven;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import javax.lang.model.SourceVersion;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;
import org.jspecify.annotations.Nullable;

/** The common part of both goals: the package, and the folders in {@code target}. */
abstract class BpfMojo extends AbstractMojo {
    static final String OBJECT_SUFFIX = ".bpf.o";

    /** The folder of the objects for big-endian machines, beside the objects for little-endian ones. */
    static final String BIG = "big";

    @Parameter(defaultValue = "${project}", readonly = true, required = true)
    @SuppressWarnings("NullAway.Init")
    MavenProject project;

    /** The package of the classes; the objects are resources in its folder. */
    @Parameter(property = "bpf4j.packageName")
    private @Nullable String packageName;

    /** Skips the goal. */
    @Parameter(property = "bpf4j.skip", defaultValue = "false")
    private boolean skip;

    @Override
    public final void execute() throws MojoExecutionException, MojoFailureException {
        if (skip) {
            getLog().info("skipped");
            return;
        }
        try {
            run();
        } catch (IOException e) {
            throw new MojoExecutionException("a file can't be read or written: " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MojoExecutionException("interrupted", e);
        }
    }

    abstract void run() throws MojoFailureException, IOException, InterruptedException;

    final String packageName() throws MojoFailureException {
        if (packageName == null) {
            throw new MojoFailureException("the package of the generated classes is missing: set <packageName> in the"
                    + " configuration of bpf4j-maven-plugin, for instance org.example");
        }
        if (!SourceVersion.isName(packageName)) {
            throw new MojoFailureException("<packageName> '" + packageName + "' can't be the name of a package");
        }
        return packageName;
    }

    /** A folder of the package. */
    final Path inPackage(Path folder) throws MojoFailureException {
        return folder.resolve(packageName().replace('.', '/'));
    }

    final Path baseDirectory() {
        return project.getBasedir().toPath().toAbsolutePath().normalize();
    }

    final Path buildDirectory() {
        return baseDirectory().resolve(project.getBuild().getDirectory()).normalize();
    }

    /** The root of the resources that are made from the sources. */
    final Path resources() {
        return buildDirectory().resolve("generated-resources/bpf4j");
    }

    /** A path for messages: short if it is one of the project's. */
    final String shown(Path path) {
        return path.startsWith(baseDirectory())
                ? baseDirectory().relativize(path).toString()
                : path.toString();
    }

    /**
     * The files of a folder whose names have a suffix, in the order of their names; none if there is no such folder.
     *
     * @throws NoSuchFileException for a dangling symbolic link: otherwise everything made from its file would be
     *     deleted, as if the source were gone
     */
    static List<Path> files(Path folder, String suffix) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        List<Path> named;
        try (Stream<Path> files = Files.list(folder)) {
            named = files.filter(file -> file.getFileName().toString().endsWith(suffix))
                    .sorted()
                    .toList();
        }
        for (Path file : named) {
            if (!Files.exists(file) && Files.isSymbolicLink(file)) {
                throw new NoSuchFileException(file.toString(), null, "the symbolic link is dangling");
            }
        }
        return named.stream().filter(Files::isRegularFile).toList();
    }

    /** Deletes what an earlier build made from a source that is gone. */
    static void keepOnly(Path folder, String suffix, Set<Path> kept) throws IOException {
        for (Path file : files(folder, suffix)) {
            if (!kept.contains(file)) {
                Files.delete(file);
            }
        }
    }
}
