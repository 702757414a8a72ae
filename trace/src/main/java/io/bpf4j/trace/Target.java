package io.bpf4j.trace;

import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The processes that a question follows: a running process, or a command that is started for it; and, on request, their
 * descendants. A process is held while probes are attached to its new code, so no first event is missed: {@link
 * io.bpf4j.usdt.UsdtWatch} documents how. <i>Immutable.</i>
 *
 * <p>A target may also be the processes of control groups (version 2), such as those of a unit, a container or a pod:
 * existing processes and later ones. No process is held. The question is attached to each file that a process of the
 * groups has mapped, for all processes, and the kernel takes the events of these groups only. So a process that starts
 * in a known group and runs known files is counted from its first instruction. Groups and files are looked for five
 * times a second, and less often if that takes long: earlier events are missing, and {@link
 * RunningProgram#reasonsForGaps} says so. A library that is loaded and unloaded between two looks is not found. Other
 * processes that have mapped one of the files pay for its breakpoints (about a microsecond for each event), as with a
 * question about the file. Needs Linux 5.10.
 */
public sealed interface Target permits TargetData {
    /**
     * A running process, numbered as in this process's pid namespace. The code that it has mapped is traced, and code
     * that it maps later.
     */
    static Target process(int pid) {
        if (pid <= 0) {
            throw new IllegalArgumentException("pid " + pid + " is not positive");
        }
        return new TargetData(OptionalInt.of(pid), List.of(), Optional.empty(), false, true, false);
    }

    /**
     * A command that is started when the question is opened, and ended when it is closed. It has this process's standard
     * input, output and error, its environment and its process group. No shell reads it.
     *
     * @param line the program, by its path or its name in {@code PATH}, and its arguments
     * @throws IllegalArgumentException if there is no program
     */
    static Target command(List<String> line) {
        if (line.isEmpty()) {
            throw new IllegalArgumentException("a command has at least a program");
        }
        return new TargetData(OptionalInt.empty(), List.copyOf(line), Optional.empty(), false, true, false);
    }

    /** The same as {@link #command(List)}. */
    static Target command(String... line) {
        return command(List.of(line));
    }

    /**
     * The processes of systemd units of the system, such as {@code postgresql@15-main.service}. {@code .service} may be
     * left out.
     *
     * @param name a pattern, as in {@link io.bpf4j.usdt.ProbePattern}
     */
    static Target unit(String name) {
        return TargetData.of(new GroupPattern(GroupPattern.Kind.UNIT, name));
    }

    /**
     * The processes of a container of Docker, containerd, CRI-O or Podman. A container that runs in another one, whose
     * root could give a group any name, is not found; select it by {@link #controlGroup}.
     *
     * @param id the first 12 digits of its id, or more
     */
    static Target container(String id) {
        return TargetData.of(new GroupPattern(GroupPattern.Kind.CONTAINER, id));
    }

    /**
     * The processes of all containers of a pod of Kubernetes, which has a UID: {@code metadata.uid}. As with {@link
     * #container}, a pod in a container is not found.
     */
    static Target pod(String uid) {
        return TargetData.of(new GroupPattern(GroupPattern.Kind.POD, uid));
    }

    /**
     * The processes of control groups, and of the groups below them.
     *
     * @param path a path in the file system of control groups, from its root on; each of its names is a pattern, as in
     *     {@link io.bpf4j.usdt.ProbePattern}: {@code /user.slice/user-*.slice}
     */
    static Target controlGroup(String path) {
        return TargetData.of(new GroupPattern(GroupPattern.Kind.CGROUP, path));
    }

    /** Follows all descendants, too: those that exist now and later ones, each from its first instruction. */
    Target withChildren();

    /**
     * Holds no process: new code is looked for every few milliseconds instead. First events may be missing; debuggers can
     * trace the processes.
     */
    Target withoutHolding();

    /** The command's standard output goes to this process's standard error. */
    Target withOutputToError();

    /** The running process; empty for a command, and for control groups. */
    OptionalInt pid();

    /** The command, its program first; empty for a process, and for control groups. */
    List<String> line();

    /** Whether descendants are followed: {@link #withChildren}. */
    boolean children();

    /** Whether processes are held while probes are attached: {@link #withoutHolding}. */
    boolean holding();

    /** Whether the command's output goes to standard error: {@link #withOutputToError}. */
    boolean outputToError();

    /** Whether the processes are those of control groups. */
    boolean inGroups();

    /**
     * The files that the target's processes have mapped now, or the program of the command, with their probes. A file
     * that several processes have mapped is in one scan only.
     *
     * @throws IOException if the mappings of the process can't be read, there is no such command, or control groups
     *     can't be read
     */
    List<UsdtScan> scan() throws IOException;

    /**
     * The program of the command, found through {@code PATH} as a shell does.
     *
     * @return an absolute path
     * @throws IOException if there is no such program, or it is not executable
     * @throws IllegalStateException if this is not a command
     */
    Path program() throws IOException;
}
