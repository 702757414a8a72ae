package io.bpf4j.cli.trace;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.Set;

/**
 * Files by what they are rather than by what they are called.
 *
 * <p>A uprobe belongs to an inode. The same file under two names ({@code /lib/x.so} and {@code /usr/lib/x.so}, or once
 * by its path and once through {@code /proc/PID/root}) would be attached twice, and every event would come twice.
 * <i>Confined.</i>
 */
public final class SeenFiles {
    private final Set<Object> keys = new HashSet<>();

    /** Whether this file was not there yet; it is from now on. */
    public boolean add(Path file) {
        return keys.add(key(file));
    }

    private static Object key(Path file) {
        try {
            Object key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
            return key == null ? file : key;
        } catch (IOException e) {
            return file;
        }
    }
}
