package io.bpf4j.loader.link;

import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.map.BpfMap;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What a program can be attached to: one record for each way that the kernel has. <i>Immutable.</i>
 *
 * <p>Each says which program it takes, and since when the kernel can do it. What a program was loaded for is fixed then:
 * {@code SEC("…")} decides, or {@link io.bpf4j.loader.kernel.AttachType}. An attach type in parentheses below is what the
 * program must have been loaded for. Whatever the kernel refuses becomes an {@link
 * io.bpf4j.loader.error.AttachException} with the reason; nothing is left attached then.
 *
 * <p>A long file, because it is a catalogue: the records share nothing but this interface.
 */
public sealed interface AttachTarget {
    /** What it is, for messages. */
    String description();

    /**
     * One instruction in a file, through a perf event; {@code SEC("uprobe")}, {@code SEC("uretprobe")}.
     *
     * @param process a process id here means all threads of the process. If it has not mapped the file, nothing fires until
     *     it does
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
     * A function of a program or library by its name, through a perf event; {@code SEC("uprobe")}, {@code
     * SEC("uretprobe")}.
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
     * @param process a process id here means all threads of the process. If it has not mapped the file, nothing fires until
     *     it does
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

    /**
     * Many instructions in a file by one link; {@code SEC("uprobe.multi")} (TRACE_UPROBE_MULTI, Linux 6.6) or, for entry and
     * return in one program, {@code SEC("uprobe.session")} (TRACE_UPROBE_SESSION, Linux 6.13).
     */
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

    /**
     * Functions of a file by their names, each with a cookie and a semaphore of its own, by one link (Linux 6.6); {@code
     * SEC("uprobe.multi")} and {@code SEC("uprobe.session")}, as for {@link UprobeMultiFunctions}. A name means what it does
     * for {@link UprobeFunction}: one function, or the attachment is refused with the reason.
     *
     * @param functions at least one; a function that is named twice fires twice
     */
    record UprobeMultiNamed(Path file, List<Function> functions, ProcessFilter process, boolean returns)
            implements AttachTarget {
        /**
         * One of them.
         *
         * @param name of the function, with its version or without
         * @param refCounterOffset where its semaphore is in the file, in bytes; 0 for none
         * @param cookie what {@code bpf_get_attach_cookie()} gives when it fires; 0 for none
         */
        public record Function(String name, long refCounterOffset, long cookie) {}

        public UprobeMultiNamed {
            functions = List.copyOf(functions);
        }

        /** In every process, when functions start. */
        public static UprobeMultiNamed entry(Path file, Function... functions) {
            return new UprobeMultiNamed(file, List.of(functions), new ProcessFilter.Any(), false);
        }

        @Override
        public String description() {
            String what = functions.size() == 1 ? functions.getFirst().name() : functions.size() + " functions";
            return (returns ? "return of " : "") + what + " in " + file;
        }
    }

    /**
     * A function of the kernel, through a perf event; {@code SEC("kprobe")}, {@code SEC("kretprobe")}.
     *
     * @param function its name in /proc/kallsyms
     * @param offset bytes from its start; 0 if {@code returns}
     * @param returns whether to fire when the function returns
     * @param cookie what {@code bpf_get_attach_cookie()} gives (Linux 5.15); 0 for none
     */
    record Kprobe(String function, long offset, boolean returns, long cookie) implements AttachTarget {
        public Kprobe(String function, long offset, boolean returns) {
            this(function, offset, returns, 0);
        }

        @Override
        public String description() {
            return (returns ? "kretprobe at " : "kprobe at ") + function + (offset == 0 ? "" : "+" + offset);
        }
    }

    /**
     * Many functions of the kernel by one link; {@code SEC("kprobe.multi")} (TRACE_KPROBE_MULTI, Linux 5.18) or, for entry
     * and return in one program, {@code SEC("kprobe.session")} (TRACE_KPROBE_SESSION, Linux 6.10). A name may have {@code
     * *} for any characters and {@code ?} for one: it then means all functions of that form that can be traced, which
     * tracefs lists in {@code available_filter_functions}.
     *
     * @param functions names or patterns
     * @param cookies one for each function, in their order; empty for none, and if there are patterns
     * @param returns whether to fire when the functions return
     */
    record KprobeMulti(List<String> functions, List<Long> cookies, boolean returns) implements AttachTarget {
        public KprobeMulti {
            functions = List.copyOf(functions);
            cookies = List.copyOf(cookies);
            if (!cookies.isEmpty() && cookies.size() != functions.size()) {
                throw new IllegalArgumentException(functions.size() + " functions, but " + cookies.size() + " cookies");
            }
        }

        /** All functions of a pattern, when they start. */
        public static KprobeMulti entry(String pattern) {
            return new KprobeMulti(List.of(pattern), List.of(), false);
        }

        @Override
        public String description() {
            String what = functions.size() == 1 ? functions.getFirst() : functions.size() + " functions of the kernel";
            return (returns ? "return of " : "") + what;
        }
    }

    /**
     * A system call by its name, such as {@code openat}: a kprobe of the function that serves it, which is called
     * differently by architecture and kernel; {@code SEC("ksyscall")}, {@code SEC("kretsyscall")}.
     *
     * @param returns whether to fire when the call returns
     * @param cookie what {@code bpf_get_attach_cookie()} gives (Linux 5.15); 0 for none
     */
    record Ksyscall(String name, boolean returns, long cookie) implements AttachTarget {
        @Override
        public String description() {
            return (returns ? "return of " : "") + "system call " + name;
        }
    }

    /**
     * A static tracepoint of the kernel, such as {@code sched}, {@code sched_switch}, through a perf event; {@code
     * SEC("tp")}.
     *
     * @param cookie what {@code bpf_get_attach_cookie()} gives (Linux 5.15); 0 for none
     */
    record Tracepoint(String category, String name, long cookie) implements AttachTarget {
        public Tracepoint(String category, String name) {
            this(category, name, 0);
        }

        @Override
        public String description() {
            return "tracepoint " + category + ":" + name;
        }
    }

    /**
     * A tracepoint by its name alone, its arguments as they are in the kernel (Linux 4.17); {@code SEC("raw_tp")}.
     *
     * @param cookie what {@code bpf_get_attach_cookie()} gives (Linux 6.10); 0 for none
     */
    record RawTracepoint(String name, long cookie) implements AttachTarget {
        public RawTracepoint(String name) {
            this(name, 0);
        }

        @Override
        public String description() {
            return "raw tracepoint " + name;
        }
    }

    /**
     * What the program was loaded for: {@code SEC("tp_btf")}, {@code "fentry"}, {@code "fexit"}, {@code "fmod_ret"}
     * (Linux 5.5, fmod_ret 5.7), {@code "lsm"} (Linux 5.7), {@code "freplace"} (Linux 5.6).
     *
     * @param cookie what {@code bpf_get_attach_cookie()} gives (Linux 5.19, tp_btf 6.10); 0 for none
     */
    record Tracing(long cookie) implements AttachTarget {
        public Tracing() {
            this(0);
        }

        @Override
        public String description() {
            return "the function it was loaded for";
        }
    }

    /**
     * Many functions of the kernel, or of one of its modules, by one link; {@code SEC("fentry.multi")}, {@code
     * "fexit.multi"}, {@code "fsession.multi"} (Linux 7.2). A name may have {@code *} for any characters and {@code ?} for
     * one: it then means all functions of that form whose types the trampoline can pass on and that tracefs lists in
     * {@code available_filter_functions}, if that can be read.
     *
     * <p>For functions of a module the program has to be loaded for the module, by its section's name: {@code
     * SEC("fentry.multi/MODULE:PATTERN")}. All names then are {@code MODULE:NAME}.
     *
     * @param functions names or patterns
     * @param cookies one for each function, in their order; empty for none, and if there are patterns
     */
    record TracingMulti(List<String> functions, List<Long> cookies) implements AttachTarget {
        public TracingMulti {
            functions = List.copyOf(functions);
            cookies = List.copyOf(cookies);
            if (!cookies.isEmpty() && cookies.size() != functions.size()) {
                throw new IllegalArgumentException(functions.size() + " functions, but " + cookies.size() + " cookies");
            }
        }

        @Override
        public String description() {
            return functions.size() == 1 ? functions.getFirst() : functions.size() + " functions of the kernel";
        }
    }

    /**
     * A global function of another program, in whose place this one runs (Linux 5.10); {@code SEC("freplace")}. It must
     * have the same signature as the function that it was loaded for.
     *
     * @param target the program that has the function; it stays its object's
     */
    record Freplace(ProgramHandle target, String function) implements AttachTarget {
        @Override
        public String description() {
            return "function " + function + " of program " + target.name();
        }
    }

    /**
     * A perf event of hardware or software: fires each time that so many of what it counts have happened; {@code
     * SEC("perf_event")}. Without a process and a CPU there is one event for each CPU that is online, in one link.
     *
     * @param type {@code PERF_TYPE_*} of include/uapi/linux/perf_event.h: 0 hardware, 1 software, 4 raw
     * @param config what is counted, by type: {@code PERF_COUNT_HW_*}, {@code PERF_COUNT_SW_*}
     * @param period how many make it fire; times a second if {@code byFrequency}
     * @param process a process id here means one thread: the kernel's perf events count threads
     * @param cpu where it counts; -1 for wherever the process runs, or every CPU
     * @param cookie what {@code bpf_get_attach_cookie()} gives (Linux 5.15); 0 for none
     */
    record PerfEvent(
            int type, long config, long period, boolean byFrequency, ProcessFilter process, int cpu, long cookie)
            implements AttachTarget {
        public PerfEvent {
            if (period <= 0 || cpu < -1) {
                throw new IllegalArgumentException("period " + period + ", CPU " + cpu);
            }
        }

        /** All CPUs, so many times a second while they run something: what a profiler asks for. */
        public static PerfEvent cpuClock(long hertz) {
            return new PerfEvent(1, 0, hertz, true, new ProcessFilter.Any(), -1, 0);
        }

        @Override
        public String description() {
            return "perf event " + type + ":" + config + (cpu < 0 ? "" : " on CPU " + cpu);
        }
    }

    /**
     * A perf event that is open already, by its descriptor; {@code SEC("perf_event")}, and for events of probes and
     * tracepoints what they take. The descriptor stays the caller's, and may be closed afterwards.
     *
     * @param cookie what {@code bpf_get_attach_cookie()} gives (Linux 5.15); 0 for none
     */
    record OpenPerfEvent(int descriptor, long cookie) implements AttachTarget {
        @Override
        public String description() {
            return "perf event of descriptor " + descriptor;
        }
    }

    /**
     * A control group of version 2 and all below it (Linux 5.7); {@code SEC("cgroup/…")}, {@code "cgroup_skb/…"}, {@code
     * "sockops"} (CGROUP_*), {@code "lsm_cgroup/…"} (LSM_CGROUP, Linux 6.0). Several programs may be attached to one group.
     *
     * @param directory in a cgroup2 file system
     * @param attachType of a program that was loaded for none, as {@code SEC("cgroup/skb")}; empty for that of the program
     * @param anchor where among the others; other than last needs Linux 6.17
     */
    record Cgroup(Path directory, Optional<AttachType> attachType, Anchor anchor) implements AttachTarget {
        public Cgroup(Path directory) {
            this(directory, Optional.empty(), Anchor.last());
        }

        @Override
        public String description() {
            return "control group " + directory + anchor.suffix();
        }
    }

    /**
     * The packets that a network device receives, before anything else sees them (Linux 5.9); {@code SEC("xdp")} (XDP).
     * One program for each device and mode: EBUSY if there is another.
     */
    record Xdp(NetDevice device, XdpMode mode) implements AttachTarget {
        public Xdp(NetDevice device) {
            this(device, XdpMode.ANY);
        }

        @Override
        public String description() {
            return "XDP of " + device;
        }
    }

    /**
     * The packets of a network device, in traffic control (Linux 6.6); {@code SEC("tc")}, {@code SEC("tcx/ingress")}
     * (TCX_INGRESS), {@code SEC("tcx/egress")} (TCX_EGRESS). Programs return TCX_NEXT (-1) to hand on to the next.
     *
     * @param ingress what is received; else what is sent
     */
    record Tcx(NetDevice device, boolean ingress, Anchor anchor) implements AttachTarget {
        public static Tcx ingress(NetDevice device) {
            return new Tcx(device, true, Anchor.last());
        }

        public static Tcx egress(NetDevice device) {
            return new Tcx(device, false, Anchor.last());
        }

        @Override
        public String description() {
            return (ingress ? "ingress of " : "egress of ") + device + anchor.suffix();
        }
    }

    /**
     * The packets that a netkit device sends (Linux 6.7); {@code SEC("netkit/primary")} (NETKIT_PRIMARY), {@code
     * SEC("netkit/peer")} (NETKIT_PEER).
     *
     * @param device the primary device of the pair, also for programs of its peer
     * @param peer whether it is for what the peer sends
     */
    record Netkit(NetDevice device, boolean peer, Anchor anchor) implements AttachTarget {
        public Netkit(NetDevice device, boolean peer) {
            this(device, peer, Anchor.last());
        }

        @Override
        public String description() {
            return "netkit " + device + (peer ? " (peer)" : "") + anchor.suffix();
        }
    }

    /**
     * A hook of netfilter in this process's network namespace (Linux 6.4); {@code SEC("netfilter")} (NETFILTER).
     *
     * @param family {@code NFPROTO_*}: 2 for IPv4, 10 for IPv6
     * @param hook {@code NF_INET_*}: 0 pre-routing, 1 local in, 2 forward, 3 local out, 4 post-routing
     * @param priority the lower, the earlier; one program for each. The least and the greatest int are refused, and with
     *     {@code defragment} whatever is not above -400
     * @param defragment whether packets are put together first ({@code BPF_F_NETFILTER_IP_DEFRAG}, Linux 6.6)
     */
    record Netfilter(int family, int hook, int priority, boolean defragment) implements AttachTarget {
        @Override
        public String description() {
            return "netfilter family " + family + " hook " + hook + " priority " + priority;
        }
    }

    /**
     * A network namespace; {@code SEC("sk_lookup")} (SK_LOOKUP, Linux 5.9; several programs) and {@code
     * SEC("flow_dissector")} (FLOW_DISSECTOR, Linux 5.8; one).
     *
     * @param file such as {@code /proc/PID/ns/net} or {@code /run/netns/NAME}
     */
    record NetNamespace(Path file) implements AttachTarget {
        /** That of this process. */
        public static NetNamespace own() {
            return new NetNamespace(Host.running().self().resolve("ns/net"));
        }

        @Override
        public String description() {
            return "network namespace " + file;
        }
    }

    /**
     * The sockets in a map of type SOCKMAP or SOCKHASH; {@code SEC("sk_skb/…")}, {@code SEC("sk_msg")}. By a link from
     * Linux 6.10 on, else without (Linux 4.14), detached all the same when it is closed. One program for each attach type.
     *
     * <p>A socket gets the programs that the map has when it is put in, and keeps them until it is taken out: attaching
     * and detaching mean nothing to those that are in.
     *
     * @param map stays its owner's
     * @param attachType of a program that was loaded for none, as {@code SEC("sk_skb")}; empty for that of the program
     */
    record Sockmap(BpfMap map, Optional<AttachType> attachType) implements AttachTarget {
        public Sockmap(BpfMap map) {
            this(map, Optional.empty());
        }

        @Override
        public String description() {
            return "the sockets of map \"" + map.name() + "\"";
        }
    }

    /**
     * An iterator of the kernel over its objects (Linux 5.8); {@code SEC("iter/…")} (TRACE_ITER). Attaching gives an
     * {@link IteratorLink}, whose streams are what the program writes.
     */
    record Iter(IterTarget over) implements AttachTarget {
        public Iter() {
            this(new IterTarget.All());
        }

        @Override
        public String description() {
            return "iterator" + over.suffix();
        }
    }

    /**
     * An infrared receiver (Linux 4.18), without a link but detached when closed; {@code SEC("lirc_mode2")} (LIRC_MODE2).
     *
     * @param device such as {@code /dev/lirc0}
     */
    record Lirc(Path device) implements AttachTarget {
        @Override
        public String description() {
            return "infrared receiver " + device;
        }
    }
}
