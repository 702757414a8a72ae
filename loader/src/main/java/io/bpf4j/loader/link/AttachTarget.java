package io.bpf4j.loader.link;

import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.map.BpfMap;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A target that a program can be attached to: one record for each method of the kernel. <i>Immutable.</i>
 *
 * <p>Each record names the programs that it takes, and the first kernel version that supports it. A program's attach
 * type is fixed at load, by {@code SEC("…")} or by {@link io.bpf4j.loader.kernel.AttachType}. An attach type in
 * parentheses below is the one that the program must have been loaded with. If the kernel refuses, an {@link
 * io.bpf4j.loader.error.AttachException} gives the reason, and nothing is left attached.
 *
 * <p>This file is long because it is a catalogue: the records share only this interface.
 */
public sealed interface AttachTarget {
    /** A description of the target, for messages. */
    String description();

    /**
     * One instruction in a file, through a perf event; {@code SEC("uprobe")}, {@code SEC("uretprobe")}.
     *
     * @param process a process id covers all threads of the process. The probe does not fire before the process maps
     *     the file
     * @param returns whether to fire when the function that starts at the site returns
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
     * <p>The name is looked up in the file's symbols, and in a stripped file's separate debug symbols: {@code
     * .gnu_debugdata}, or the file that the build ID or debug link names below /usr/lib/debug. The name may have a
     * version, as in {@code memcpy@GLIBC_2.2.5}; without a version it means the default version. C++ and Rust functions
     * have their mangled names. Refused with the reason: a name that the file doesn't have, a name of several
     * functions, and an indirect function (IFUNC), because it is not the code that runs.
     *
     * @param file path of the program or library; {@link LibrarySearch} finds one by name. It may be stored
     *     uncompressed in an archive: {@code app.apk!/lib/x86_64/libx.so}
     * @param offset bytes from the start of the function; 0 if {@code returns}
     * @param process a process id covers all threads of the process. The probe does not fire before the process maps
     *     the file
     * @param returns whether to fire when the function returns
     * @param cookie the value that {@code bpf_get_attach_cookie()} returns (Linux 5.15); 0 for none
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
         * As in {@code SEC("uprobe/…")}: {@code /usr/bin/x:main}, {@code libc.so.6:malloc+0x10}. {@link LibrarySearch}
         * looks up a name without a slash.
         *
         * @throws IllegalArgumentException if the text does not have that form
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
                    // A plus that is not followed by a number is part of the name, as in operator+.
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
     * Many instructions in a file, through one link; {@code SEC("uprobe.multi")} (TRACE_UPROBE_MULTI, Linux 6.6) or,
     * for entry and return in one program, {@code SEC("uprobe.session")} (TRACE_UPROBE_SESSION, Linux 6.13).
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
     * All functions of a file whose name matches a pattern, through one link (Linux 6.6): names as for {@link
     * UprobeFunction}, with {@code *} for any characters and {@code ?} for one. The program must have the attach type
     * of {@code SEC("uprobe.multi")} (TRACE_UPROBE_MULTI) or, for entry and return in one program, {@code
     * SEC("uprobe.session")} (TRACE_UPROBE_SESSION, Linux 6.13).
     *
     * <p>Functions at the same address count as one, and indirect functions (IFUNC) are left out. If a function starts
     * with an instruction that can't be probed, the kernel refuses all of them with EINVAL.
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
     * Functions of a file by their names, each with its own cookie and semaphore, through one link (Linux 6.6); {@code
     * SEC("uprobe.multi")} and {@code SEC("uprobe.session")}, as for {@link UprobeMultiFunctions}. Names are as for
     * {@link UprobeFunction}: each must mean one function, otherwise attaching is refused with the reason.
     *
     * @param functions at least one; the probe of a function that is listed twice fires twice
     */
    record UprobeMultiNamed(Path file, List<Function> functions, ProcessFilter process, boolean returns)
            implements AttachTarget {
        /** A function to probe.
         *
         * @param name of the function, with its version or without
         * @param refCounterOffset file offset of its semaphore in bytes; 0 for none
         * @param cookie the value that {@code bpf_get_attach_cookie()} returns when it fires; 0 for none
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
     * @param cookie the value that {@code bpf_get_attach_cookie()} returns (Linux 5.15); 0 for none
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
     * Many functions of the kernel, through one link; {@code SEC("kprobe.multi")} (TRACE_KPROBE_MULTI, Linux 5.18) or,
     * for entry and return in one program, {@code SEC("kprobe.session")} (TRACE_KPROBE_SESSION, Linux 6.10). A name may
     * have {@code *} for any characters and {@code ?} for one: it then means all matching functions that can be traced.
     * These are the ones that tracefs lists in {@code available_filter_functions}.
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

        /** All functions that match a pattern, when they start. */
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
     * A system call by its name, such as {@code openat}: a kprobe of the function that implements it. The function's
     * name depends on architecture and kernel; {@code SEC("ksyscall")}, {@code SEC("kretsyscall")}.
     *
     * @param returns whether to fire when the call returns
     * @param cookie the value that {@code bpf_get_attach_cookie()} returns (Linux 5.15); 0 for none
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
     * @param cookie the value that {@code bpf_get_attach_cookie()} returns (Linux 5.15); 0 for none
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
     * A tracepoint by its name alone, with its arguments as the kernel passes them (Linux 4.17); {@code SEC("raw_tp")}.
     *
     * @param cookie the value that {@code bpf_get_attach_cookie()} returns (Linux 6.10); 0 for none
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
     * The target that the program was loaded for: {@code SEC("tp_btf")}, {@code "fentry"}, {@code "fexit"}, {@code
     * "fmod_ret"} (Linux 5.5, fmod_ret 5.7), {@code "lsm"} (Linux 5.7), {@code "freplace"} (Linux 5.6).
     *
     * @param cookie the value that {@code bpf_get_attach_cookie()} returns (Linux 5.19, tp_btf 6.10); 0 for none
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
     * Many functions of the kernel, or of one of its modules, through one link; {@code SEC("fentry.multi")}, {@code
     * "fexit.multi"}, {@code "fsession.multi"} (Linux 7.2). A name may have {@code *} for any characters and {@code ?}
     * for one: it then means all matching functions whose argument types the trampoline can pass and, if tracefs can be
     * read, that {@code available_filter_functions} lists.
     *
     * <p>For functions of a module the program must be loaded for the module, by its section name: {@code
     * SEC("fentry.multi/MODULE:PATTERN")}. All names must then have the form {@code MODULE:NAME}.
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
     * A global function of another program, which this program replaces (Linux 5.10); {@code SEC("freplace")}. The
     * function must have the same signature as the function that this program was loaded for.
     *
     * @param target the program that has the function; it still belongs to its object
     */
    record Freplace(ProgramHandle target, String function) implements AttachTarget {
        @Override
        public String description() {
            return "function " + function + " of program " + target.name();
        }
    }

    /**
     * A hardware or software perf event: the program runs after every {@code period} occurrences; {@code
     * SEC("perf_event")}. Without a process and a CPU, one event for each online CPU is opened, in one link.
     *
     * @param type {@code PERF_TYPE_*} of include/uapi/linux/perf_event.h: 0 hardware, 1 software, 4 raw
     * @param config the event to count, depending on the type: {@code PERF_COUNT_HW_*}, {@code PERF_COUNT_SW_*}
     * @param period occurrences for each run of the program; runs per second if {@code byFrequency}
     * @param process a process id means one thread, because the kernel's perf events count threads
     * @param cpu the CPU to count on; -1 for all CPUs that the process runs on, or every CPU
     * @param cookie the value that {@code bpf_get_attach_cookie()} returns (Linux 5.15); 0 for none
     */
    record PerfEvent(
            int type, long config, long period, boolean byFrequency, ProcessFilter process, int cpu, long cookie)
            implements AttachTarget {
        public PerfEvent {
            if (period <= 0 || cpu < -1) {
                throw new IllegalArgumentException("period " + period + ", CPU " + cpu);
            }
        }

        /** All CPUs, this many times per second while they are busy, as for a profiler. */
        public static PerfEvent cpuClock(long hertz) {
            return new PerfEvent(1, 0, hertz, true, new ProcessFilter.Any(), -1, 0);
        }

        @Override
        public String description() {
            return "perf event " + type + ":" + config + (cpu < 0 ? "" : " on CPU " + cpu);
        }
    }

    /**
     * A perf event that is already open, by its file descriptor; {@code SEC("perf_event")}, or the program type of the
     * probe or tracepoint that the event is for. The descriptor still belongs to the caller, and may be closed
     * afterwards.
     *
     * @param cookie the value that {@code bpf_get_attach_cookie()} returns (Linux 5.15); 0 for none
     */
    record OpenPerfEvent(int descriptor, long cookie) implements AttachTarget {
        @Override
        public String description() {
            return "perf event of descriptor " + descriptor;
        }
    }

    /**
     * A version 2 control group and all groups below it (Linux 5.7); {@code SEC("cgroup/…")}, {@code "cgroup_skb/…"},
     * {@code "sockops"} (CGROUP_*), {@code "lsm_cgroup/…"} (LSM_CGROUP, Linux 6.0). Several programs may be attached to
     * one group.
     *
     * @param directory in a cgroup2 file system
     * @param attachType for a program that was loaded without one, as {@code SEC("cgroup/skb")}; empty for the
     *     program's own
     * @param anchor the place among the group's programs; a place other than the last needs Linux 6.17
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
     * The packets that a network device receives, before the network stack (Linux 5.9); {@code SEC("xdp")} (XDP). A
     * device takes one program for each mode: EBUSY if it already has one.
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
     * (TCX_INGRESS), {@code SEC("tcx/egress")} (TCX_EGRESS). Programs return TCX_NEXT (-1) to pass the packet to the
     * next program.
     *
     * @param ingress true for received packets; false for sent packets
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
     * @param peer whether the program gets the packets that the peer sends
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
     * @param priority lower values run earlier; each takes one program. INT_MIN and INT_MAX are reserved and refused;
     *     with {@code defragment} it must be above -400
     * @param defragment whether packets are defragmented first ({@code BPF_F_NETFILTER_IP_DEFRAG}, Linux 6.6)
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
        /** The network namespace of this process. */
        public static NetNamespace own() {
            return new NetNamespace(Host.running().self().resolve("ns/net"));
        }

        @Override
        public String description() {
            return "network namespace " + file;
        }
    }

    /**
     * The sockets in a map of type SOCKMAP or SOCKHASH; {@code SEC("sk_skb/…")}, {@code SEC("sk_msg")}. The kernel
     * creates a link from Linux 6.10 on. Before (Linux 4.14), closing the returned link detaches as well. A map takes
     * one program for each attach type.
     *
     * <p>A socket gets the map's programs when it is inserted, and keeps them until it is removed. Attaching and
     * detaching do not affect sockets that are already in the map.
     *
     * @param map still belongs to its owner
     * @param attachType for a program that was loaded without one, as {@code SEC("sk_skb")}; empty for the program's
     *     own
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
     * An iterator over objects of the kernel (Linux 5.8); {@code SEC("iter/…")} (TRACE_ITER). Attaching returns an
     * {@link IteratorLink}. Its streams return the program's output.
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
     * An infrared receiver (Linux 4.18). The kernel has no link for it, but closing the returned link detaches; {@code
     * SEC("lirc_mode2")} (LIRC_MODE2).
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
