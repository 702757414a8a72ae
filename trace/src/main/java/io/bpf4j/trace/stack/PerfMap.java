package io.bpf4j.trace.stack;

import io.bpf4j.process.MappedRange;
import io.bpf4j.process.ProcessFiles;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.time.Duration;

/**
 * The list of the functions that a JVM has compiled, {@code /tmp/perf-PID.map}, on request. {@link Symbolizer} reads
 * such a list if it exists: Node.js writes it with {@code --perf-basic-prof}, .NET with {@code
 * DOTNET_PerfMapEnabled=1}, and a JVM when it is asked. <i>Confined.</i>
 *
 * <p>A JVM's stacks are complete only with {@code -XX:+PreserveFramePointer}. Otherwise compiled code uses the frame
 * pointer's register for other values, and a stack ends at its first compiled method.
 *
 * <p>Tested by {@code StacksOfJvmTest} and {@code HostileJvmsTest}.
 */
public final class PerfMap implements AutoCloseable {
    private static final String LIBRARY = "libjvm.so";

    private final JvmAttach jvm;
    private final String file;
    private final boolean created;

    private PerfMap(JvmAttach jvm, String file, boolean created) {
        this.jvm = jvm;
        this.file = file;
        this.created = created;
    }

    /** Whether it is HotSpot's library by its name. Any process can map such a file. */
    static boolean isLibrary(MappedRange mapping) {
        return mapping.executable() && mapping.isFileNamed(LIBRARY);
    }

    /**
     * Has a JVM write the list of the methods that it has compiled so far: {@code jcmd PID Compiler.perfmap} (JDK 17).
     * The list is a snapshot: methods that are compiled later need another request.
     *
     * <p>It uses HotSpot's attach mechanism: a JVM that is asked for the first time gets a signal, SIGQUIT, and listens
     * at {@code /tmp/.java_pidPID} from then on. The caller must be the JVM's user, or root. No file but the list is
     * written, whatever the JVM's {@code /tmp} contains: the list is first created as an empty file of the JVM's user,
     * which nobody else can replace.
     *
     * @param patience the longest time to wait for the JVM
     * @return the list; closing it removes the file, unless it existed before
     * @throws IOException if the process is not a HotSpot JVM, does not answer in time, or fails; the message says why
     * @throws io.bpf4j.sys.SyscallException if the kernel refuses
     */
    public static PerfMap request(Host host, int pid, Duration patience) throws IOException {
        // What was known of the process may be old, and a signal that a JVM answers ends other programs.
        if (new ProcessFiles(host).mappings(pid, PerfMap::isLibrary).isEmpty()) {
            throw new IOException("process " + pid + " is not a HotSpot JVM: it has not mapped libjvm.so");
        }
        JvmAttach jvm = JvmAttach.open(host, pid, patience);
        PerfMap map = null;
        try {
            String name = "perf-" + jvm.ownPid() + ".map";
            // The JVM would follow a link to another file. In such a directory only the owner can replace this file.
            boolean created = jvm.temporary().create(name);
            map = new PerfMap(jvm, name, created);
            if (!created && !jvm.temporary().hasOwnFile(name)) {
                throw new IOException("/tmp/" + name + " of process " + pid
                        + " is a link, or belongs to another user, who may write anything into it");
            }
            jvm.jcmd("Compiler.perfmap");
            return map;
        } catch (IOException | RuntimeException e) {
            if (map == null) {
                jvm.close();
            } else {
                map.close();
            }
            throw e;
        }
    }

    /** Removes the file, unless it existed before the request. */
    @Override
    public void close() {
        try (jvm) {
            if (created) {
                jvm.temporary().remove(file);
            }
        }
    }
}
