package io.bpf4j.loader;

import io.bpf4j.elf.internal.text.CString;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.proc.StatusFile;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The processes that have programs, maps and links open, as their files in {@code /proc} show it. What no process has
 * open is pinned, attached, or used by something that is. <i>Immutable.</i>
 *
 * <pre>{@code
 * Holders holders = Holders.scan();
 * for (int id : Programs.ids()) {
 *     System.out.println(id + " " + holders.of(Pin.Kind.PROGRAM, id));
 * }
 * }</pre>
 *
 * <p>A descriptor that a thread has for itself alone, after unshare(CLONE_FILES), is not seen, and neither is a program
 * that is attached to an open perf event: {@link Links#openProbes} finds these.
 *
 * <p>Tested by {@code InspectionOnKernelTest}.
 */
public final class Holders {
    private final Map<Pin.Kind, Map<Integer, List<Holder>>> holders;
    private final int hidden;

    private Holders(Map<Pin.Kind, Map<Integer, List<Holder>>> holders, int hidden) {
        this.holders = holders;
        this.hidden = hidden;
    }

    /**
     * A process that has something open.
     *
     * @param pid in the pid namespace of {@code /proc}
     * @param name of the process, at most 15 bytes, which it chooses itself; a byte that is not UTF-8 is U+FFFD
     */
    public record Holder(int pid, String name) {}

    /** {@link #scan(Host)} on the running machine. */
    public static Holders scan() throws IOException {
        return scan(Host.running());
    }

    /**
     * Reads the descriptors of all processes that this process may see: its own user's, or all with CAP_SYS_PTRACE.
     * Processes that end meanwhile are skipped.
     *
     * @throws IOException if {@code /proc} can't be listed
     */
    public static Holders scan(Host host) throws IOException {
        Map<Pin.Kind, Map<Integer, List<Holder>>> found = new HashMap<>();
        int hidden = 0;
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(host.proc(), "[0-9]*")) {
            for (Path process : processes) {
                try {
                    addAll(process, found);
                } catch (IOException e) {
                    // It may have ended.
                    hidden += Files.exists(process) ? 1 : 0;
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return new Holders(found, hidden);
    }

    private static void addAll(Path process, Map<Pin.Kind, Map<Integer, List<Holder>>> found) throws IOException {
        int pid = Integer.parseInt(String.valueOf(process.getFileName()));
        Holder holder = null;
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path descriptor : descriptors) {
                Optional<Pin.Kind> kind = kind(descriptor);
                if (kind.isEmpty()) {
                    continue;
                }
                Optional<Integer> id = id(process, descriptor, kind.get());
                if (id.isPresent()) {
                    holder = holder != null ? holder : new Holder(pid, name(process));
                    List<Holder> holders = found.computeIfAbsent(kind.get(), _ -> new HashMap<>())
                            .computeIfAbsent(id.get(), _ -> new ArrayList<>());
                    if (holders.isEmpty() || holders.getLast().pid() != pid) {
                        holders.add(holder);
                    }
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    private static Optional<Pin.Kind> kind(Path descriptor) {
        try {
            return ObjectCommand.Kind.of(Files.readSymbolicLink(descriptor).toString())
                    .flatMap(kind -> switch (kind) {
                        case PROGRAM -> Optional.of(Pin.Kind.PROGRAM);
                        case MAP -> Optional.of(Pin.Kind.MAP);
                        case LINK -> Optional.of(Pin.Kind.LINK);
                        case BTF -> Optional.empty();
                    });
        } catch (IOException e) {
            return Optional.empty(); // closed since the directory was read
        }
    }

    private static Optional<Integer> id(Path process, Path descriptor, Pin.Kind kind) {
        String field = switch (kind) {
            case PROGRAM -> "prog_id";
            case MAP -> "map_id";
            case LINK -> "link_id";
        };
        try {
            return StatusFile.ofDescriptor(process, Integer.parseInt(String.valueOf(descriptor.getFileName())))
                    .number(field, 0);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static String name(Path process) {
        try {
            String name = CString.exact(Files.readAllBytes(process.resolve("comm")));
            return name.endsWith("\n") ? name.substring(0, name.length() - 1) : name;
        } catch (IOException e) {
            return "";
        }
    }

    /** The processes that have something open, by the kernel's id of it. */
    public List<Holder> of(Pin.Kind kind, int id) {
        return List.copyOf(holders.getOrDefault(kind, Map.of()).getOrDefault(id, List.of()));
    }

    /** How many processes this process may not see. */
    public int hiddenProcesses() {
        return hidden;
    }
}
