package io.bpf4j.trace.stack;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.proc.Lines;
import io.bpf4j.sys.internal.proc.StatusFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The list of functions that a just-in-time compiler has compiled in a process, {@code /tmp/perf-PID.map}
 * (tools/perf/Documentation/jit-interface.txt of the kernel). Each line is a function: its start and its size in bytes,
 * both in hexadecimal, and its name, which is the rest of the line.
 *
 * <pre>
 * 0x00007f04c8a2f860 0x0000000000000258 void java.lang.Thread.run()
 * </pre>
 *
 * <p>The PID in the file's name is that of the process's own pid namespace, and {@code /tmp} is that of its mount
 * namespace. A line replaces earlier lines for the same addresses, because compilers reuse memory.
 *
 * <p>Everybody may write to {@code /tmp}, so another user can put a file there before the process does. The file is
 * read only if its owner is the user of the process, or root. It must be neither a symbolic link nor have a second hard
 * link: a link to a file of root would pass the check of the owner, and the file's lines would be shown as names.
 *
 * <p><i>Confined.</i>
 *
 * <p>Tested by {@code PerfMapFileTest}.
 */
final class PerfMapFile {
    /** Bytes of a list. A runtime that has run for months writes some hundred megabytes. */
    private static final long MAX_BYTES = 1L << 28;

    /** Bytes that are read for one process in all, however often its list changes. */
    private static final long MAX_ALL_BYTES = 1L << 31;

    /** Functions that exist at one time. A large server has compiled a hundred thousand. */
    private static final int MAX_FUNCTIONS = 1 << 19;

    /** Bytes of their names. */
    private static final long MAX_NAMES = 1L << 25;

    /** Bytes of a line: two numbers, and the characters of a name that are shown. */
    private static final int MAX_LINE_BYTES = 4 * Names.MAX_LENGTH;

    private final Host host;
    private final int pid;
    private long left = MAX_ALL_BYTES;
    private @Nullable FileIdentity read;
    private AddressTable functions = new AddressTable.Builder(0).build();
    private AddressTable earlier = functions;
    private String problem = "";

    PerfMapFile(Host host, int pid) {
        this.host = host;
        this.pid = pid;
    }

    /** The functions that were read last. */
    AddressTable functions() {
        return functions;
    }

    /** The functions of the previous reading. A JVM's list contains only those that exist when it is written. */
    AddressTable earlier() {
        return earlier;
    }

    /** Why a list that exists was not read; empty if it was read or does not exist. */
    String problem() {
        return problem;
    }

    /** Approximate memory of the functions in bytes. */
    long bytes() {
        return functions.bytes() + earlier.bytes();
    }

    /** Drops the functions; the list is read again only if it changes. */
    void drop() {
        functions = new AddressTable.Builder(0).build();
        earlier = functions;
        problem = "the list of compiled code of process " + pid
                + " was dropped, because the lists of all processes together exceed the memory limit; its frames have"
                + " no names";
    }

    /** Reads the list if it changed since it was last read; returns whether it was read. */
    boolean refresh() {
        try {
            return refreshIfOwned();
        } catch (NoSuchFileException e) {
            return false; // the process has written no list, or has ended
        } catch (IOException | SyscallException | NumberFormatException e) {
            problem = "the list of compiled code of process " + pid + " can't be read: " + e.getMessage();
            return false;
        }
    }

    private boolean refreshIfOwned() throws IOException {
        StatusFile status = StatusFile.read(host.process(pid));
        // "NSpid: 4711 7": the pid in each pid namespace, the process's own last (Linux 4.1).
        int own = status.lastNumber("NSpid").orElse(pid);
        Path path = host.process(pid).resolve("root/tmp/perf-" + own + ".map");
        FileIdentity now = FileIdentity.of(path);
        if (now.equals(read)) {
            return false;
        }
        if (Math.min(MAX_BYTES, now.size()) > left) {
            throw new IOException(path + " has changed so often that " + MAX_ALL_BYTES + " bytes of it were read");
        }
        try (OpenFile file = OpenFile.open(host, path, path.toString())) {
            Map<String, Object> opened = Files.readAttributes(file.path(), "unix:uid,nlink");
            Map<String, Object> named = Files.readAttributes(path, "unix:dev,ino", LinkOption.NOFOLLOW_LINKS);
            if (!Objects.equals(named.get("ino"), file.identity().inode())
                    || !Objects.equals(named.get("dev"), file.identity().device())
                    || !Objects.equals(opened.get("nlink"), 1)) {
                throw new IOException(path + " is a link, which may point to any file");
            }
            // "Uid: real effective saved filesystem"
            Object owner = opened.get("uid");
            if (!Objects.equals(owner, 0) && !status.number("Uid", 1).equals(Optional.ofNullable(owner))) {
                throw new IOException(path + " belongs to user " + owner + ", who may write anything into it");
            }
            AddressTable.Builder builder = new AddressTable.Builder(MAX_NAMES, MAX_FUNCTIONS);
            boolean[] hasRoom = {true};
            boolean whole = read(file, builder, hasRoom);
            earlier = functions;
            functions = builder.buildNewest();
            read = file.identity();
            left -= Math.min(MAX_BYTES, file.identity().size());
            problem = cut(path, hasRoom[0], whole);
            return true;
        }
    }

    private static String cut(Path path, boolean hasRoom, boolean whole) {
        if (!hasRoom) {
            return path + " lists more functions than bpf4j keeps (" + MAX_FUNCTIONS + ", or " + (MAX_NAMES >> 20)
                    + " MiB of names); the others are shown without names";
        }
        return whole
                ? ""
                : path + " has more than " + (MAX_BYTES >> 20) + " MiB; functions that it lists after these are shown"
                        + " without names";
    }

    /**
     * Reads the list.
     *
     * @param hasRoom set to false if there was no room for a function; the remaining functions are then not read
     * @return false if only the first {@link #MAX_BYTES} were read
     */
    private static boolean read(OpenFile file, AddressTable.Builder builder, boolean[] hasRoom) throws IOException {
        int[] time = {0};
        return Lines.read(file.path(), MAX_LINE_BYTES, MAX_BYTES, (line, length) -> {
            hasRoom[0] = add(builder, line, length, time[0]++);
            return hasRoom[0];
        });
    }

    /** Adds a function, if there is room. Skips a line of another form: the compiler may be writing it now. */
    private static boolean add(AddressTable.Builder builder, byte[] line, int length, int time) {
        int blank = indexOf(line, 0, length);
        int second = indexOf(line, blank + 1, length);
        if (second >= length || second + 1 == length) {
            return true;
        }
        try {
            long start = hex(line, 0, blank);
            long size = hex(line, blank + 1, second);
            if (size == 0) {
                return true;
            }
            byte[] name = new byte[length - second - 1];
            System.arraycopy(line, second + 1, name, 0, name.length);
            return builder.addNewest(start, size, name, time);
        } catch (NumberFormatException e) {
            return true; // not a number
        }
    }

    private static int indexOf(byte[] line, int from, int length) {
        int at = from;
        while (at < length && line[at] != ' ') {
            at++;
        }
        return at;
    }

    private static long hex(byte[] line, int from, int to) {
        String text = new String(line, from, Math.max(0, to - from), StandardCharsets.ISO_8859_1);
        return Long.parseUnsignedLong(text.startsWith("0x") ? text.substring(2) : text, 16);
    }
}
