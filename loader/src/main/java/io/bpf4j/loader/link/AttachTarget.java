package io.bpf4j.loader.link;

import java.nio.file.Path;
import java.util.List;

/** What a program can be attached to. <i>Immutable.</i> */
public sealed interface AttachTarget {
    /** What it is, for messages. */
    String description();

    /**
     * One instruction in a file, through a perf event.
     *
     * @param process a process id here means one thread: the kernel's perf events count threads
     * @param returns whether to fire when the function that starts there returns
     */
    record Uprobe(TargetFile file, ProbeSite site, ProcessFilter process, boolean returns) implements AttachTarget {
        public Uprobe(Path file, ProbeSite site, ProcessFilter process, boolean returns) {
            this(TargetFile.of(file), site, process, returns);
        }

        @Override
        public String description() {
            return (returns ? "uretprobe at " : "uprobe at ") + file + "+0x" + Long.toHexString(site.fileOffset());
        }
    }

    /** Many instructions in a file by one link (Linux 6.6). The program must have been loaded for it. */
    record UprobeMulti(TargetFile file, ProbeSites sites, ProcessFilter process, boolean returns)
            implements AttachTarget {
        public UprobeMulti(Path file, ProbeSites sites, ProcessFilter process, boolean returns) {
            this(TargetFile.of(file), sites, process, returns);
        }

        public UprobeMulti(Path file, List<ProbeSite> sites, ProcessFilter process, boolean returns) {
            this(file, ProbeSites.of(sites), process, returns);
        }

        @Override
        public String description() {
            return sites.size() + (returns ? " uretprobes in " : " uprobes in ") + file;
        }
    }

    /** A static tracepoint of the kernel, such as {@code sched}, {@code sched_switch}. */
    record Tracepoint(String category, String name) implements AttachTarget {
        @Override
        public String description() {
            return "tracepoint " + category + ":" + name;
        }
    }

    /** A tracepoint by its name alone, its arguments as they are in the kernel (Linux 4.17). */
    record RawTracepoint(String name) implements AttachTarget {
        @Override
        public String description() {
            return "raw tracepoint " + name;
        }
    }

    /** What the program was loaded for: {@code tp_btf}, {@code fentry}, {@code fexit}, {@code fmod_ret}, {@code lsm}. */
    record Tracing() implements AttachTarget {
        @Override
        public String description() {
            return "the function it was loaded for";
        }
    }

    /** A function of the kernel, through a perf event. */
    record Kprobe(String function, long offset, boolean returns) implements AttachTarget {
        @Override
        public String description() {
            return (returns ? "kretprobe at " : "kprobe at ") + function + (offset == 0 ? "" : "+" + offset);
        }
    }
}
