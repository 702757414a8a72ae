package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.AttachedPrograms;
import io.bpf4j.loader.link.Cgroup;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * What is attached to a control group and to those below it. <i>Confined.</i>
 *
 * <p>Tested by {@code AttachedProgramsOnKernelTest}.
 */
public final class GroupTree extends SimpleFileVisitor<Path> {
    private final Host host;
    private final Cgroup top;
    /** The folder of {@link #top}, which may be a link to it. */
    private final Path root;

    private final SequencedMap<Path, AttachedPrograms> found = new LinkedHashMap<>();

    private GroupTree(Host host, Cgroup top, Path root) {
        this.host = host;
        this.top = top;
        this.root = root;
    }

    /** The groups with programs, each before those below it. */
    public static SequencedMap<Path, AttachedPrograms> attached(Host host, Cgroup top) throws IOException {
        Path root = top.directory().toRealPath();
        if (!Files.isDirectory(root)) {
            throw new NotDirectoryException(top.directory().toString());
        }
        GroupTree tree = new GroupTree(host, top, root);
        Files.walkFileTree(root, tree);
        return tree.found;
    }

    private boolean isTop(Path directory) {
        return directory.equals(root);
    }

    @Override
    public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
        Cgroup group = Cgroup.of(directory);
        AttachedPrograms programs;
        try {
            programs = HookQuery.of(
                    host, top.attachType().map(group::withAttachType).orElse(group), false);
        } catch (SyscallException e) {
            if (isTop(directory) || e.errno() != Errno.ENOENT) {
                throw e;
            }
            return FileVisitResult.SKIP_SUBTREE;
        }
        if (!programs.programs().isEmpty()) {
            found.put(top.directory().resolve(root.relativize(directory)), programs);
        }
        return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path path, IOException e) throws IOException {
        if (!isTop(path) && e instanceof NoSuchFileException) {
            return FileVisitResult.CONTINUE;
        }
        throw e;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e) throws IOException {
        boolean vanished = !isTop(directory) && e instanceof NoSuchFileException;
        if (e != null && !vanished) {
            throw e;
        }
        return FileVisitResult.CONTINUE;
    }
}
