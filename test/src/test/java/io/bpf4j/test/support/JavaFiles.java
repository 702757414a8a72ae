package io.bpf4j.test.support;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Finds the Java files of the checkout. */
public final class JavaFiles {
    /** Builds, tests and git make and remove files in these at any time. */
    private static final Set<String> CHANGING = Set.of("target", ".git");

    private JavaFiles() {}

    /** Those whose path has this part, such as {@code /src/main/java/}. */
    public static List<Path> in(Path checkout, String part) throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(checkout, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                return CHANGING.contains(String.valueOf(folder.getFileName()))
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (file.toString().endsWith(".java") && file.toString().contains(part)) {
                    found.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return found;
    }
}
