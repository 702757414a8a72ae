package io.bpf4j.sys.internal.proc;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The state of a process or thread, from {@code /proc/PID/status} (proc_pid_status(5)): a line for each field.
 * <i>Immutable.</i>
 *
 * <pre>
 * Name:   java
 * State:  S (sleeping)
 * Tgid:   4711
 * Uid:    1000    1000    1000    1000
 * </pre>
 *
 * <p>The name of a process has any bytes. The kernel escapes a newline in it, but not a carriage return, so only a
 * newline ends a line here; {@code String.lines} would read a forged field from a name.
 *
 * <p>Tested by {@code LinuxFilesTest}.
 */
public final class StatusFile {
    private final String text;

    private StatusFile(String text) {
        this.text = text;
    }

    /**
     * Reads the file.
     *
     * @param task the folder of a process or thread in {@code /proc}
     * @throws IOException if the process has ended, or may not be seen
     */
    public static StatusFile read(Path task) throws IOException {
        return new StatusFile(Files.readString(task.resolve("status"), StandardCharsets.ISO_8859_1));
    }

    /**
     * The state of an open file, {@code /proc/PID/fdinfo/NUMBER}, which has the same form.
     *
     * @param process its folder in {@code /proc}
     * @throws IOException if there is no such descriptor
     */
    public static StatusFile ofDescriptor(Path process, int number) throws IOException {
        Path file = process.resolve("fdinfo/" + number);
        return new StatusFile(Files.readString(file, StandardCharsets.ISO_8859_1));
    }

    /** The state of a task; without a field if the file can't be read, because the process or thread has ended. */
    public static StatusFile readIfRunning(Path task) {
        try {
            return read(task);
        } catch (IOException e) {
            return new StatusFile("");
        }
    }

    /** The value of a field such as {@code Tgid}, without spaces around it; empty if this kernel has no such field. */
    public String field(String name) {
        return Stream.of(text.split("\n", -1))
                .filter(line -> line.startsWith(name + ":"))
                .map(line -> line.substring(name.length() + 1).strip())
                .findFirst()
                .orElse("");
    }

    /** A number of a field that has several; empty if there are fewer, or it is not a decimal number of 32 bits. */
    public Optional<Integer> number(String name, int index) {
        String[] numbers = field(name).split("\\s+", -1);
        try {
            return index < numbers.length ? Optional.of(Integer.parseUnsignedInt(numbers[index])) : Optional.empty();
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** The last number of a field, such as the number of a process in its own pid namespace ({@code NSpid}). */
    public Optional<Integer> lastNumber(String name) {
        return number(name, field(name).split("\\s+", -1).length - 1);
    }
}
