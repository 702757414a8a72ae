package io.bpf4j.process.hold;

import io.bpf4j.process.Tasks;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * A shell that continues paused processes if this process is killed, however it ends: the shell outlives it, reads a
 * pipe, and detects the end of the pipe without the last line that {@link #close} writes. The records of the processes
 * that the program has paused are then in the ring buffer, which has no reader any more; so the shell has a list of all
 * processes that may be paused, and continues those that are stopped. It identifies a process by its pid and start
 * time, because the pid may belong to another process later. <i>Thread-safe.</i>
 *
 * <p>The shell has a session of its own if the machine has setsid(1), and ignores signals that are sent to a whole
 * group: {@code timeout -s KILL} kills the group. The pipe may end before the last program is detached, and the program
 * may pause a process until then. So the shell checks the processes until this process is gone, and a few seconds
 * longer, because a thread that waits for a processor stops late.
 *
 * <p>Rejected: a heartbeat, without which the program stops pausing (a process that is already paused is not
 * continued), and a thread of this process (it dies with the process).
 *
 * <p>Tested by {@code CliLosslessTest} and {@code ResumingShellTest}.
 */
final class ResumingShell implements AutoCloseable {
    private static final Path SHELL = Path.of("/bin/sh");

    private static final String SESSION_SCRIPT = "command -v setsid >/dev/null && exec setsid " + SHELL
            + " -c \"$0\" sh \"$@\";" + " exec " + SHELL + " -c \"$0\" sh \"$@\"";

    /**
     * Its arguments are the path of {@code /proc}, and the pid and start time of this process. In {@code
     * /proc/PID/stat} the name is in parentheses and may contain any bytes; the last parenthesis is followed by fields,
     * of which the state is the first and the start time the twentieth (proc_pid_stat(5)). The state of a first thread
     * that has ended is Z, also if the others are stopped.
     */
    private static final String SCRIPT = """
            trap '' HUP INT QUIT TERM PIPE TSTP TTIN TTOU
            cd /
            set -f
            proc=$1 tracer=$2:$3 all=
            same() {
                line=$(cat "$proc/${1%:*}/stat" 2>/dev/null) || return 1
                wanted=${1#*:}
                set -- ${line##*)}
                state=$1
                [ "${20}" = "$wanted" ]
            }
            resume() {
                for one in $all; do
                    if same "$one"; then
                        case $state in T|t|Z) kill -CONT "${one%:*}" 2>/dev/null;; esac
                    fi
                done
            }
            threads() {
                set +f
                set -- "$proc/${tracer%:*}/task"/*
                set -f
                [ $# -gt 1 ]
            }
            while read -r word; do
                [ "$word" != end ] || exit 0
                all="$all $word"
            done
            resume
            while same "$tracer" && { [ "$state" != Z ] || threads; }; do
                sleep 1
                resume
            done
            for last in 1 2 3 4 5; do
                resume
                sleep 1
            done
            """;

    private final Tasks files;
    private final Process shell;
    private final OutputStream pipe;
    private final Set<String> added = new HashSet<>();

    private ResumingShell(Tasks files, Process shell) {
        this.files = files;
        this.shell = shell;
        this.pipe = shell.getOutputStream();
    }

    /** Why this machine can't run the shell; empty if it can. */
    static Optional<String> obstacle() {
        return Files.isExecutable(SHELL)
                ? Optional.empty()
                : Optional.of(
                        SHELL + " does not exist; it would continue the process if bpf4j is killed during a pause");
    }

    /**
     * Starts the shell.
     *
     * @throws IOException if it can't be started
     */
    static ResumingShell start(Host host) throws IOException {
        Tasks files = new Tasks(host);
        int self = Math.toIntExact(ProcessHandle.current().pid());
        Process shell = new ProcessBuilder(
                        SHELL.toString(),
                        "-c",
                        SESSION_SCRIPT,
                        SCRIPT,
                        host.proc().toString(),
                        Integer.toString(self),
                        Long.toString(files.start(self).orElse(0)))
                // Not the streams of this process: their reader waits until every process that has them open has ended.
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        return new ResumingShell(files, shell);
    }

    /**
     * Adds a process that may be paused from now on. Does nothing if the process has ended, or has been added before.
     *
     * @throws IOException if the shell has ended
     */
    synchronized void add(int pid) throws IOException {
        OptionalLong start = files.start(pid);
        if (start.isPresent() && added.add(pid + ":" + start.getAsLong())) {
            write(pid + ":" + start.getAsLong());
        }
    }

    private void write(String line) throws IOException {
        pipe.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        pipe.flush();
    }

    /** The process of the shell. */
    Process process() {
        return shell;
    }

    /** Ends the shell, which continues no process then. */
    @Override
    public synchronized void close() {
        try (pipe) {
            write("end");
        } catch (IOException e) {
            // The shell has ended.
        }
    }
}
