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

    /**
     * A function of a program or library by its name, through a perf event.
     *
     * <p>The name is looked for in the file's symbols, and in a stripped file's separate debug symbols: {@code
     * .gnu_debugdata}, or the file that the build ID or debug link names below /usr/lib/debug. It may have a version, as
     * {@code memcpy@GLIBC_2.2.5}; without one the default version is meant. C++ and Rust functions go by their mangled
     * names. What is refused, with the reason: a name that the file doesn't have, one that several functions have, and
     * an indirect function (IFUNC), which is not what runs.
     *
     * @param file path of the program or library; {@link LibrarySearch} finds one by name. It may be in an archive
     *     uncompressed: {@code app.apk!/lib/x86_64/libx.so}
     * @param offset bytes from the start of the function; 0 if {@code returns}
     * @param process a process id here means one thread: the kernel's perf events count threads
     * @param returns whether to fire when the function returns
     * @param cookie what {@code bpf_get_attach_cookie()} gives (Linux 5.15); 0 for none
     */
    record UprobeFunction(Path file, String function, long offset, ProcessFilter process, boolean returns, long cookie)
            implements AttachTarget {
        public UprobeFunction {
            if (returns && offset != 0) {
                throw new IllegalArgumentException("a function returns as a whole: offset " + offset + " in " + function
                        + " makes no sense for a return probe");
            }
        }

        /** The start of a function, in every process. */
        public static UprobeFunction entry(Path file, String function) {
            return new UprobeFunction(file, function, 0, new ProcessFilter.Any(), false, 0);
        }

        /** The return of a function, in every process. */
        public static UprobeFunction returning(Path file, String function) {
            return new UprobeFunction(file, function, 0, new ProcessFilter.Any(), true, 0);
        }

        /**
         * As in {@code SEC("uprobe/…")}: {@code /usr/bin/x:main}, {@code libc.so.6:malloc+0x10}. A name without a slash
         * is looked for by {@link LibrarySearch}.
         *
         * @throws IllegalArgumentException if the text has not that form
         */
        public static UprobeFunction parse(String place, boolean returns) {
            int colon = place.indexOf(':');
            if (colon <= 0 || colon == place.length() - 1) {
                throw new IllegalArgumentException(
                        "\"" + place + "\" is not of the form FILE:FUNCTION or" + " FILE:FUNCTION+OFFSET");
            }
            Path file = LibrarySearch.ofThisMachine().find(place.substring(0, colon));
            String function = place.substring(colon + 1);
            int plus = function.lastIndexOf('+');
            if (plus > 0) {
                try {
                    long offset = Long.decode(function.substring(plus + 1));
                    return new UprobeFunction(
                            file, function.substring(0, plus), offset, new ProcessFilter.Any(), returns, 0);
                } catch (NumberFormatException e) {
                    // A plus that no number follows is part of the name: operator+ of some languages.
                    return new UprobeFunction(file, function, 0, new ProcessFilter.Any(), returns, 0);
                }
            }
            return new UprobeFunction(file, function, 0, new ProcessFilter.Any(), returns, 0);
        }

        /** With a cookie. */
        public UprobeFunction withCookie(long newCookie) {
            return new UprobeFunction(file, function, offset, process, returns, newCookie);
        }

        /** In one thread or process only. */
        public UprobeFunction in(ProcessFilter newProcess) {
            return new UprobeFunction(file, function, offset, newProcess, returns, cookie);
        }

        @Override
        public String description() {
            return (returns ? "return of " : "") + function + (offset == 0 ? "" : "+0x" + Long.toHexString(offset))
                    + " in " + file;
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

    /**
     * All functions of a file whose name fits a pattern, by one link (Linux 6.6): names as for {@link UprobeFunction},
     * with {@code *} for any characters and {@code ?} for one. The program must have been loaded for it: {@code
     * SEC("uprobe.multi")} (TRACE_UPROBE_MULTI) or, for entry and return in one program, {@code SEC("uprobe.session")}
     * (TRACE_UPROBE_SESSION, Linux 6.13).
     *
     * <p>Functions at the same address are one, and indirect functions (IFUNC) are left out. One that starts with an
     * instruction that can't be probed makes the kernel refuse them all with EINVAL.
     */
    record UprobeMultiFunctions(Path file, String pattern, ProcessFilter process, boolean returns)
            implements AttachTarget {
        /** In every process, when functions start. */
        public static UprobeMultiFunctions entry(Path file, String pattern) {
            return new UprobeMultiFunctions(file, pattern, new ProcessFilter.Any(), false);
        }

        @Override
        public String description() {
            return (returns ? "return of " : "") + pattern + " in " + file;
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
