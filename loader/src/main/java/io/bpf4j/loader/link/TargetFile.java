package io.bpf4j.loader.link;

import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The file that uprobes go into. <i>Immutable.</i>
 *
 * <p>The two differ where a file is held open ({@link OpenFile}): the kernel is led through the descriptor, and a person
 * who reads a message still wants to know which file it was.
 *
 * @param path where the kernel finds it: {@code /proc/PID/root/…} reaches into another mount namespace, and {@code
 *     /proc/self/fd/N} means an open file whatever became of its name. In that last form, kernels that can (Linux 7.2)
 *     are given the descriptor itself
 * @param name what messages call it
 */
public record TargetFile(Path path, String name) {
    private static final String DESCRIPTORS = "/proc/self/fd/";
    private static final Pattern DESCRIPTOR = Pattern.compile(DESCRIPTORS + "([0-9]{1,9})");

    /** A file by its path. */
    public static TargetFile of(Path path) {
        return new TargetFile(path, path.toString());
    }

    static Path ofDescriptor(int number) {
        return Path.of(DESCRIPTORS + number);
    }

    /** The number, where the path is nothing but an open descriptor of this process. */
    public OptionalInt descriptor() {
        Matcher matcher = DESCRIPTOR.matcher(path.toString());
        return matcher.matches() ? OptionalInt.of(Integer.parseInt(matcher.group(1))) : OptionalInt.empty();
    }

    @Override
    public String toString() {
        return name;
    }
}
