package io.bpf4j.loader.link;

import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.kernel.AttachType;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A target that a program can be attached to: one type for each method of the kernel. <i>Immutable.</i>
 *
 * {@snippet :
 * program.attach(Kprobe.entry("tcp_connect"));
 * program.attach(Uprobe.exit(Path.of("/usr/bin/bash"), "readline").withCookie(7));
 * program.attach(Tcx.ingress(NetDevice.named("eth0")).withAnchor(Anchor.first()));
 * }
 *
 * <p>Each type names the programs that it accepts, and the first kernel version that supports it. A program's attach
 * type is fixed at load, by {@code SEC("…")} or by {@link io.bpf4j.sys.kernel.AttachType}. An attach type in
 * parentheses below is the one that the program must have been loaded with. If the kernel refuses, an {@link
 * io.bpf4j.loader.error.AttachException} gives the reason, and nothing is left attached.
 *
 * <p>A cookie is the value that {@code bpf_get_attach_cookie()} returns when the program runs (Linux 5.15, unless a
 * type says otherwise); 0 for none. A pid is a process as this process sees it, with all its threads; 0 for every
 * process, now or later.
 *
 * <p>This file is long because it is a catalogue: the types share only this interface.
 *
 * <p>Tested by {@code LinkTargetGoldenTest} and {@code HooksOnKernelTest}.
 */
public sealed interface AttachTarget {
    /** A description of the target, for messages. */
    default String description() {
        return switch (this) {
            case Uprobe uprobe -> describe(uprobe);
            case UprobeMulti uprobes -> describe(uprobes);
            case Kprobe kprobe ->
                (kprobe.returns() ? "kretprobe at " : "kprobe at ")
                        + kprobe.function()
                        + (kprobe.offset() == 0 ? "" : "+" + kprobe.offset());
            case Ksyscall call -> returnPrefix(call.returns()) + "system call " + call.name();
            case KprobeMulti kprobes -> returnPrefix(kprobes.returns()) + kernelFunctions(kprobes.functions());
            case Tracepoint tracepoint -> "tracepoint " + tracepoint.category() + ":" + tracepoint.name();
            case RawTracepoint tracepoint -> "raw tracepoint " + tracepoint.name();
            case Tracing _ -> "the function it was loaded for";
            case TracingMulti many -> kernelFunctions(many.functions());
            case Freplace replaced ->
                "function " + replaced.function() + " of program "
                        + replaced.program().name();
            case PerfEvent event ->
                "perf event " + event.type() + ":" + event.config() + (event.cpu() < 0 ? "" : " on CPU " + event.cpu());
            case OpenPerfEvent event -> "perf event of descriptor " + event.descriptor();
            case Cgroup group ->
                "control group " + group.directory() + group.anchor().suffix();
            case Xdp xdp -> "XDP of " + xdp.device();
            case Tcx tcx ->
                (tcx.isIngress() ? "ingress of " : "egress of ")
                        + tcx.device()
                        + tcx.anchor().suffix();
            case Netkit netkit ->
                "netkit " + netkit.device() + (netkit.isPeer() ? " (peer)" : "")
                        + netkit.anchor().suffix();
            case Netfilter netfilter ->
                "netfilter family " + netfilter.family() + " hook "
                        + netfilter.hook().number() + " priority " + netfilter.priority();
            case NetNamespace namespace -> "network namespace " + namespace.file();
            case Sockmap sockets -> "the sockets of map \"" + sockets.map().name() + "\"";
            case Iter iter ->
                "iterator"
                        + iter.map()
                                .map(map -> " over map \"" + map.name() + "\"")
                                .orElse("")
                        + iter.cgroup()
                                .map(group -> " over control group " + group)
                                .orElse("")
                        + (iter.pid() == 0 ? "" : " over process " + iter.pid())
                        + (iter.tid() == 0 ? "" : " over thread " + iter.tid());
            case Lirc receiver -> "infrared receiver " + receiver.device();
        };
    }

    private static String describe(Uprobe target) {
        String place = target.file() + "+0x" + Long.toHexString(target.offset());
        return target.function()
                .map(name -> returnPrefix(target.returns()) + name
                        + (target.offset() == 0 ? "" : "+0x" + Long.toHexString(target.offset())) + " in "
                        + target.file())
                .orElse((target.returns() ? "uretprobe at " : "uprobe at ") + place);
    }

    private static String describe(UprobeMulti target) {
        String subject = switch (target.functions().size()) {
            case 0 -> target.offsets().length + (target.returns() ? " uretprobes" : " uprobes");
            case 1 -> returnPrefix(target.returns()) + target.functions().getFirst();
            default -> returnPrefix(target.returns()) + target.functions().size() + " functions";
        };
        return subject + " in " + target.file();
    }

    private static String returnPrefix(boolean returns) {
        return returns ? "return of " : "";
    }

    private static String kernelFunctions(List<String> functions) {
        return functions.size() == 1 ? functions.getFirst() : functions.size() + " functions of the kernel";
    }

    /**
     * A function or an instruction of a program or library, through a perf event; {@code SEC("uprobe")}, {@code
     * SEC("uretprobe")}.
     *
     * <p>The name of a function is looked up in the file's symbols, and in a stripped file's separate debug symbols:
     * {@code .gnu_debugdata}, or the file that the build ID or debug link names below /usr/lib/debug. The name may have
     * a version, as in {@code memcpy@GLIBC_2.2.5}; without a version it means the default version. C++ and Rust
     * functions have their mangled names. These are refused, with the reason: a name that the file doesn't have, a name
     * of several functions, and an indirect function (IFUNC), because it is not the code that runs.
     */
    sealed interface Uprobe extends AttachTarget {
        /**
         * The start of a function, in every process.
         *
         * @param file {@link LibrarySearch} finds one by name. It may be stored uncompressed in an archive: {@code
         *     app.apk!/lib/x86_64/libx.so}
         */
        static Uprobe entry(Path file, String function) {
            return new UprobeData(TargetFile.of(file), Optional.of(function), 0, false, 0, 0, 0);
        }

        /** The return of a function; {@code file} as for {@link #entry}. */
        static Uprobe exit(Path file, String function) {
            return new UprobeData(TargetFile.of(file), Optional.of(function), 0, true, 0, 0, 0);
        }

        /** An instruction, by its offset in the file in bytes. */
        static Uprobe at(TargetFile file, long offset) {
            return new UprobeData(file, Optional.empty(), offset, false, 0, 0, 0);
        }

        /** The return of the function that starts at an offset in the file, in bytes. */
        static Uprobe exitAt(TargetFile file, long offset) {
            return new UprobeData(file, Optional.empty(), offset, true, 0, 0, 0);
        }

        TargetFile file();

        /** Empty if the target is given by its offset in the file. */
        Optional<String> function();

        /** Bytes from the start of the function; without a function from the start of the file. */
        long offset();

        /** Whether to fire when the function returns. */
        boolean returns();

        /** File offset of the semaphore in bytes; 0 for none. */
        long semaphore();

        long cookie();

        int pid();

        /**
         * An instruction of the function, by its distance from the function's start in bytes.
         *
         * @throws IllegalArgumentException for the return of a function
         */
        default Uprobe withOffset(long bytes) {
            return new UprobeData(file(), function(), bytes, returns(), semaphore(), cookie(), pid());
        }

        /**
         * With a semaphore: a 16-bit counter that the kernel increments while a probe is attached (Linux 4.20).
         *
         * @param fileOffset in bytes; 0 for none
         */
        default Uprobe withSemaphore(long fileOffset) {
            return new UprobeData(file(), function(), offset(), returns(), fileOffset, cookie(), pid());
        }

        default Uprobe withCookie(long cookie) {
            return new UprobeData(file(), function(), offset(), returns(), semaphore(), cookie, pid());
        }

        /** In one process only. The probe does not fire before the process maps the file. */
        default Uprobe inProcess(int pid) {
            return new UprobeData(file(), function(), offset(), returns(), semaphore(), cookie(), pid);
        }
    }

    /**
     * Many functions or instructions of a program or library, through one link; {@code SEC("uprobe.multi")}
     * (TRACE_UPROBE_MULTI, Linux 6.6) or, for entry and return in one program, {@code SEC("uprobe.session")}
     * (TRACE_UPROBE_SESSION, Linux 6.13).
     *
     * <p>A name of a function is looked up as for {@link Uprobe}, and may have {@code *} for any characters and {@code
     * ?} for one. It stands for all functions that match, except indirect ones (IFUNC); functions at the same address
     * count as one. With cookies or semaphores, each name must match exactly one function. If a function can't be
     * probed, the kernel refuses all of them with EINVAL.
     */
    sealed interface UprobeMulti extends AttachTarget {
        /** The start of functions, by names or patterns, in every process; {@code file} as for {@link Uprobe#entry}. */
        static UprobeMulti entry(Path file, String... functions) {
            return UprobeMultiData.of(TargetFile.of(file), List.of(functions), UprobeMultiData.NONE, false);
        }

        /** The return of functions; {@code file} as for {@link Uprobe#entry}. */
        static UprobeMulti exit(Path file, String... functions) {
            return UprobeMultiData.of(TargetFile.of(file), List.of(functions), UprobeMultiData.NONE, true);
        }

        /** Instructions, by their offsets in the file in bytes. */
        static UprobeMulti at(TargetFile file, long... offsets) {
            return UprobeMultiData.of(file, List.of(), offsets.clone(), false);
        }

        /** The return of functions, by the offsets in the file where they start, in bytes. */
        static UprobeMulti exitAt(TargetFile file, long... offsets) {
            return UprobeMultiData.of(file, List.of(), offsets.clone(), true);
        }

        TargetFile file();

        /** Names or patterns; empty if the target is given by offsets. */
        List<String> functions();

        /** A copy of the offsets; empty if the target is given by functions. */
        long[] offsets();

        /** Whether to fire when the functions return. */
        boolean returns();

        /** A copy of the semaphores' file offsets in bytes; empty if there are none. */
        long[] semaphores();

        /** A copy of the cookies; empty if there are none. */
        long[] cookies();

        int pid();

        /**
         * With a semaphore for each function or instruction, in their order.
         *
         * @param fileOffsets in bytes; 0 for none
         */
        default UprobeMulti withSemaphores(long... fileOffsets) {
            long[] any = Arrays.stream(fileOffsets).anyMatch(s -> s != 0) ? fileOffsets.clone() : UprobeMultiData.NONE;
            return new UprobeMultiData(file(), functions(), offsets(), returns(), any, cookies(), pid());
        }

        /** With a cookie for each function or instruction, in their order. */
        default UprobeMulti withCookies(long... cookies) {
            return new UprobeMultiData(file(), functions(), offsets(), returns(), semaphores(), cookies.clone(), pid());
        }

        /** In one process only. */
        default UprobeMulti inProcess(int pid) {
            return new UprobeMultiData(file(), functions(), offsets(), returns(), semaphores(), cookies(), pid);
        }
    }

    /** A function of the kernel, through a perf event; {@code SEC("kprobe")}, {@code SEC("kretprobe")}. */
    sealed interface Kprobe extends AttachTarget {
        /** The start of a function, by its name in /proc/kallsyms. */
        static Kprobe entry(String function) {
            return new KprobeData(function, 0, false, 0);
        }

        /** The return of a function, by its name in /proc/kallsyms. */
        static Kprobe exit(String function) {
            return new KprobeData(function, 0, true, 0);
        }

        String function();

        /** Bytes from the start of the function. */
        long offset();

        /** Whether to fire when the function returns. */
        boolean returns();

        long cookie();

        /** An instruction of the function, by its distance from the function's start in bytes. */
        default Kprobe withOffset(long bytes) {
            return new KprobeData(function(), bytes, returns(), cookie());
        }

        default Kprobe withCookie(long cookie) {
            return new KprobeData(function(), offset(), returns(), cookie);
        }
    }

    /**
     * A system call by its name, such as {@code openat}: a kprobe of the function that implements it. The function's
     * name depends on architecture and kernel; {@code SEC("ksyscall")}, {@code SEC("kretsyscall")}.
     */
    sealed interface Ksyscall extends AttachTarget {
        static Ksyscall entry(String name) {
            return new KsyscallData(name, false, 0);
        }

        static Ksyscall exit(String name) {
            return new KsyscallData(name, true, 0);
        }

        String name();

        /** Whether to fire when the call returns. */
        boolean returns();

        long cookie();

        default Ksyscall withCookie(long cookie) {
            return new KsyscallData(name(), returns(), cookie);
        }
    }

    /**
     * Many functions of the kernel, through one link; {@code SEC("kprobe.multi")} (TRACE_KPROBE_MULTI, Linux 5.18) or,
     * for entry and return in one program, {@code SEC("kprobe.session")} (TRACE_KPROBE_SESSION, Linux 6.10). A name may
     * have {@code *} for any characters and {@code ?} for one: it then means all matching functions that can be traced.
     * These are the ones that tracefs lists in {@code available_filter_functions}.
     */
    sealed interface KprobeMulti extends AttachTarget {
        /** The start of functions, by names or patterns. */
        static KprobeMulti entry(String... functions) {
            return new KprobeMultiData(List.of(functions), List.of(), false);
        }

        /** The return of functions, by names or patterns. */
        static KprobeMulti exit(String... functions) {
            return new KprobeMultiData(List.of(functions), List.of(), true);
        }

        List<String> functions();

        /** One for each function, in their order; empty for none. */
        List<Long> cookies();

        /** Whether to fire when the functions return. */
        boolean returns();

        /** With a cookie for each function, in their order; not for patterns. */
        default KprobeMulti withCookies(long... cookies) {
            return new KprobeMultiData(functions(), KprobeMultiData.cookies(functions(), cookies), returns());
        }
    }

    /**
     * A static tracepoint of the kernel, such as {@code sched}, {@code sched_switch}, through a perf event; {@code
     * SEC("tp")}.
     */
    sealed interface Tracepoint extends AttachTarget {
        static Tracepoint of(String category, String name) {
            return new TracepointData(category, name, 0);
        }

        String category();

        String name();

        long cookie();

        default Tracepoint withCookie(long cookie) {
            return new TracepointData(category(), name(), cookie);
        }
    }

    /**
     * A tracepoint by its name alone, with its arguments as the kernel passes them (Linux 4.17; cookies 6.10); {@code
     * SEC("raw_tp")}.
     */
    sealed interface RawTracepoint extends AttachTarget {
        static RawTracepoint of(String name) {
            return new RawTracepointData(name, 0);
        }

        String name();

        long cookie();

        default RawTracepoint withCookie(long cookie) {
            return new RawTracepointData(name(), cookie);
        }
    }

    /**
     * The target that the program was loaded for: {@code SEC("tp_btf")}, {@code "fentry"}, {@code "fexit"}, {@code
     * "fmod_ret"} (Linux 5.5, fmod_ret 5.7), {@code "lsm"} (Linux 5.7), {@code "freplace"} (Linux 5.6). Cookies need
     * Linux 5.19, those of tp_btf 6.10.
     */
    sealed interface Tracing extends AttachTarget {
        static Tracing asLoaded() {
            return new TracingData(0);
        }

        long cookie();

        default Tracing withCookie(long cookie) {
            return new TracingData(cookie);
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
     */
    sealed interface TracingMulti extends AttachTarget {
        /** Functions, by names or patterns. */
        static TracingMulti of(String... functions) {
            return new TracingMultiData(List.of(functions), List.of());
        }

        List<String> functions();

        /** One for each function, in their order; empty for none. */
        List<Long> cookies();

        /** With a cookie for each function, in their order; not for patterns. */
        default TracingMulti withCookies(long... cookies) {
            return new TracingMultiData(functions(), KprobeMultiData.cookies(functions(), cookies));
        }
    }

    /**
     * A global function of another program, which this program replaces (Linux 5.10); {@code SEC("freplace")}. The
     * function must have the same signature as the function that this program was loaded for.
     */
    sealed interface Freplace extends AttachTarget {
        /**
         * A function of a program.
         *
         * @param program still belongs to its owner
         */
        static Freplace of(ProgramHandle program, String function) {
            return new FreplaceData(program, function);
        }

        ProgramHandle program();

        String function();
    }

    /**
     * A hardware or software perf event: the program runs after every so many occurrences; {@code SEC("perf_event")}.
     * Without a thread and a CPU, one event for each online CPU is opened, in one link.
     */
    sealed interface PerfEvent extends AttachTarget {
        /**
         * Runs after every {@code period} occurrences.
         *
         * @param type {@code PERF_TYPE_*} of include/uapi/linux/perf_event.h: 0 hardware, 1 software, 4 raw
         * @param config the event to count, depending on the type: {@code PERF_COUNT_HW_*}, {@code PERF_COUNT_SW_*}
         */
        static PerfEvent every(long period, int type, long config) {
            return new PerfEventData(type, config, period, false, 0, -1, 0);
        }

        /** Runs this many times per second, with the period that this requires; parameters as for {@link #every}. */
        static PerfEvent perSecond(long hertz, int type, long config) {
            return new PerfEventData(type, config, hertz, true, 0, -1, 0);
        }

        /** All CPUs, this many times per second while they are busy, as for a profiler. */
        static PerfEvent cpuClock(long hertz) {
            return perSecond(hertz, 1, 0);
        }

        int type();

        long config();

        /** Occurrences for each run of the program, or runs per second. */
        long period();

        boolean isPerSecond();

        /** The thread to count in; 0 for all. */
        int tid();

        /** The CPU to count on; -1 for all CPUs. */
        int cpu();

        long cookie();

        /** In one thread only: the kernel's perf events count threads. */
        default PerfEvent inThread(int tid) {
            return new PerfEventData(type(), config(), period(), isPerSecond(), tid, cpu(), cookie());
        }

        default PerfEvent onCpu(int number) {
            return new PerfEventData(type(), config(), period(), isPerSecond(), tid(), number, cookie());
        }

        default PerfEvent withCookie(long cookie) {
            return new PerfEventData(type(), config(), period(), isPerSecond(), tid(), cpu(), cookie);
        }
    }

    /**
     * A perf event that is already open, by its file descriptor; {@code SEC("perf_event")}, or the program type of the
     * probe or tracepoint that the event is for. The descriptor still belongs to the caller, and may be closed
     * afterwards.
     */
    sealed interface OpenPerfEvent extends AttachTarget {
        static OpenPerfEvent of(int descriptor) {
            return new OpenPerfEventData(descriptor, 0);
        }

        int descriptor();

        long cookie();

        default OpenPerfEvent withCookie(long cookie) {
            return new OpenPerfEventData(descriptor(), cookie);
        }
    }

    /**
     * A version 2 control group and all groups below it (Linux 5.7); {@code SEC("cgroup/…")}, {@code "cgroup_skb/…"},
     * {@code "sockops"} (CGROUP_*), {@code "lsm_cgroup/…"} (LSM_CGROUP, Linux 6.0). Several programs may be attached to
     * one group.
     */
    sealed interface Cgroup extends AttachTarget {
        /** A group, by its directory in a cgroup2 file system. */
        static Cgroup of(Path directory) {
            return new CgroupData(directory, Optional.empty(), Anchor.last());
        }

        Path directory();

        /** Empty for the program's own attach type. */
        Optional<AttachType> attachType();

        Anchor anchor();

        /**
         * For a program that was loaded without attach type, as {@code SEC("cgroup/skb")}, and for {@code
         * Links.attachedTo}.
         */
        default Cgroup withAttachType(AttachType type) {
            return new CgroupData(directory(), Optional.of(type), anchor());
        }

        /** At a place among the group's programs; a place other than the last needs Linux 6.17. */
        default Cgroup withAnchor(Anchor anchor) {
            return new CgroupData(directory(), attachType(), anchor);
        }
    }

    /**
     * The packets that a network device receives, before the network stack (Linux 5.9); {@code SEC("xdp")} (XDP). A
     * device takes one program for each mode: EBUSY if it already has one.
     */
    sealed interface Xdp extends AttachTarget {
        /** The place in the path of a packet where the program runs. */
        enum Mode {
            /** In the driver if the driver supports XDP, else generic; the kernel chooses. */
            ANY(0),
            /** In the network stack, for all devices; slower, because the packet already is a socket buffer. */
            GENERIC(1 << 1),
            /** In the driver; refused with EOPNOTSUPP if the driver does not support XDP. */
            DRIVER(1 << 2),
            /** On the device itself; the program must have been loaded for it. */
            HARDWARE(1 << 3);

            private final int flag;

            Mode(int flag) {
                this.flag = flag;
            }

            /** XDP_FLAGS_*_MODE of include/uapi/linux/if_link.h. */
            public int flag() {
                return flag;
            }
        }

        /** In any mode. */
        static Xdp on(NetDevice device) {
            return new XdpData(device, Mode.ANY);
        }

        NetDevice device();

        Mode mode();

        default Xdp withMode(Mode mode) {
            return new XdpData(device(), mode);
        }
    }

    /**
     * The packets of a network device, in traffic control (Linux 6.6); {@code SEC("tc")}, {@code SEC("tcx/ingress")}
     * (TCX_INGRESS), {@code SEC("tcx/egress")} (TCX_EGRESS). Programs return TCX_NEXT (-1) to pass the packet to the
     * next program.
     */
    sealed interface Tcx extends AttachTarget {
        /** Received packets. */
        static Tcx ingress(NetDevice device) {
            return new TcxData(device, true, Anchor.last());
        }

        /** Sent packets. */
        static Tcx egress(NetDevice device) {
            return new TcxData(device, false, Anchor.last());
        }

        NetDevice device();

        /** True for received packets; false for sent packets. */
        boolean isIngress();

        Anchor anchor();

        default Tcx withAnchor(Anchor anchor) {
            return new TcxData(device(), isIngress(), anchor);
        }
    }

    /**
     * The packets that a netkit device sends (Linux 6.7); {@code SEC("netkit/primary")} (NETKIT_PRIMARY), {@code
     * SEC("netkit/peer")} (NETKIT_PEER).
     */
    sealed interface Netkit extends AttachTarget {
        /** The packets that the primary device of a pair sends. */
        static Netkit primary(NetDevice primary) {
            return new NetkitData(primary, false, Anchor.last());
        }

        /** The packets that the peer of a primary device sends. */
        static Netkit peer(NetDevice primary) {
            return new NetkitData(primary, true, Anchor.last());
        }

        /** The primary device of the pair, also for programs of its peer. */
        NetDevice device();

        boolean isPeer();

        Anchor anchor();

        default Netkit withAnchor(Anchor anchor) {
            return new NetkitData(device(), isPeer(), anchor);
        }
    }

    /** A hook of netfilter in this process's network namespace (Linux 6.4); {@code SEC("netfilter")} (NETFILTER). */
    sealed interface Netfilter extends AttachTarget {
        /** {@code NF_INET_*} of include/uapi/linux/netfilter.h. */
        enum Hook {
            PRE_ROUTING(0),
            LOCAL_IN(1),
            FORWARD(2),
            LOCAL_OUT(3),
            POST_ROUTING(4);

            private final int number;

            Hook(int number) {
                this.number = number;
            }

            public int number() {
                return number;
            }
        }

        /**
         * A hook of IPv4.
         *
         * @param priority lower values run earlier; each takes one program. INT_MIN and INT_MAX are reserved and
         *     refused; with {@link #withDefragmentation} it must be above -400
         */
        static Netfilter ipv4(Hook hook, int priority) {
            return new NetfilterData(2, hook, priority, false);
        }

        /** A hook of IPv6; {@code priority} as for {@link #ipv4}. */
        static Netfilter ipv6(Hook hook, int priority) {
            return new NetfilterData(10, hook, priority, false);
        }

        /** {@code NFPROTO_*}: 2 for IPv4, 10 for IPv6. */
        int family();

        Hook hook();

        int priority();

        /** Whether packets are defragmented first. */
        boolean defragments();

        /** Defragments packets first ({@code BPF_F_NETFILTER_IP_DEFRAG}, Linux 6.6). */
        default Netfilter withDefragmentation() {
            return new NetfilterData(family(), hook(), priority(), true);
        }
    }

    /**
     * A network namespace; {@code SEC("sk_lookup")} (SK_LOOKUP, Linux 5.9; several programs) and {@code
     * SEC("flow_dissector")} (FLOW_DISSECTOR, Linux 5.8; one).
     */
    sealed interface NetNamespace extends AttachTarget {
        /** A namespace by its file, such as {@code /proc/PID/ns/net} or {@code /run/netns/NAME}. */
        static NetNamespace of(Path file) {
            return new NetNamespaceData(file, Optional.empty());
        }

        /** The network namespace of this process. */
        static NetNamespace own() {
            return of(Host.running().self().resolve("ns/net"));
        }

        Path file();

        /** Empty for the program's own attach type. */
        Optional<AttachType> attachType();

        /** For {@code Links.attachedTo}: {@link AttachType#FLOW_DISSECTOR} or {@link AttachType#SK_LOOKUP}. */
        default NetNamespace withAttachType(AttachType type) {
            return new NetNamespaceData(file(), Optional.of(type));
        }
    }

    /**
     * The sockets in a map of type SOCKMAP or SOCKHASH; {@code SEC("sk_skb/…")}, {@code SEC("sk_msg")}. The kernel
     * creates a link from Linux 6.10 on. Before (Linux 4.14), closing the returned link detaches as well. A map takes
     * one program for each attach type.
     *
     * <p>A socket gets the map's programs when it is inserted, and keeps them until it is removed. Attaching and
     * detaching do not affect sockets that are already in the map.
     */
    sealed interface Sockmap extends AttachTarget {
        /**
         * The sockets of a map.
         *
         * @param map still belongs to its owner
         */
        static Sockmap of(BpfMap map) {
            return new SockmapData(map, Optional.empty());
        }

        BpfMap map();

        /** Empty for the program's own attach type. */
        Optional<AttachType> attachType();

        /**
         * For a program that was loaded without attach type, as {@code SEC("sk_skb")}, and for {@code
         * Links.attachedTo}.
         */
        default Sockmap withAttachType(AttachType type) {
            return new SockmapData(map(), Optional.of(type));
        }
    }

    /**
     * An iterator over objects of the kernel (Linux 5.8); {@code SEC("iter/…")} (TRACE_ITER). Attaching returns an
     * {@link IteratorLink}. Its streams return the program's output.
     */
    sealed interface Iter extends AttachTarget {
        /** The control groups to visit, and their order ({@code enum bpf_cgroup_iter_order}). */
        enum Walk {
            /** The given group alone. */
            SELF(1),
            /** The given group and its descendants, each group before its descendants. */
            DESCENDANTS_PRE(2),
            /** The given group and its descendants, each group after its descendants. */
            DESCENDANTS_POST(3),
            /** The given group and its ancestors, up to the root. */
            ANCESTORS(4);

            private final int number;

            Walk(int number) {
                this.number = number;
            }

            public int number() {
                return number;
            }
        }

        /** All objects of the iterator's kind: {@code SEC("iter/task")}, {@code "iter/bpf_map"}, {@code "iter/tcp"}. */
        static Iter all() {
            return new IterData(Optional.empty(), Optional.empty(), Walk.SELF, 0, 0);
        }

        /**
         * The elements of a map: {@code SEC("iter/bpf_map_elem")} and {@code "iter/bpf_sk_storage_map"}.
         *
         * @param map still belongs to its owner
         */
        static Iter elements(BpfMap map) {
            return new IterData(Optional.of(map), Optional.empty(), Walk.SELF, 0, 0);
        }

        /** Control groups, starting from one, by its directory: {@code SEC("iter/cgroup")} (Linux 6.1). */
        static Iter cgroups(Path cgroup, Walk walk) {
            return new IterData(Optional.empty(), Optional.of(cgroup), walk, 0, 0);
        }

        /** One process: all its threads. {@code SEC("iter/task")} and similar iterators (Linux 6.1). */
        static Iter process(int pid) {
            return new IterData(Optional.empty(), Optional.empty(), Walk.SELF, pid, 0);
        }

        /** One thread. {@code SEC("iter/task")} and similar iterators (Linux 6.1). */
        static Iter thread(int tid) {
            return new IterData(Optional.empty(), Optional.empty(), Walk.SELF, 0, tid);
        }

        Optional<BpfMap> map();

        Optional<Path> cgroup();

        Walk walk();

        /** 0 for none. */
        int pid();

        /** 0 for none. */
        int tid();
    }

    /**
     * An infrared receiver (Linux 4.18). The kernel has no link for it, but closing the returned link detaches; {@code
     * SEC("lirc_mode2")} (LIRC_MODE2).
     */
    sealed interface Lirc extends AttachTarget {
        /** A receiver by its device, such as {@code /dev/lirc0}. */
        static Lirc of(Path device) {
            return new LircData(device);
        }

        Path device();
    }
}

record UprobeData(
        TargetFile file, Optional<String> function, long offset, boolean returns, long semaphore, long cookie, int pid)
        implements AttachTarget.Uprobe {
    UprobeData {
        if (returns && function.isPresent() && offset != 0) {
            throw new IllegalArgumentException(
                    "a return probe can't have an offset: offset " + offset + " in " + function.get());
        }
        requirePid(pid);
    }

    static void requirePid(int pid) {
        if (pid < 0) {
            throw new IllegalArgumentException(
                    "pid " + pid + " is negative: it must be the pid of a process, or 0 for every process");
        }
    }
}

/** Arrays, because there may be a million sites. The caller passes its own copies. */
@SuppressWarnings("ArrayRecordComponent") // targets with sites are not compared
record UprobeMultiData(
        TargetFile file,
        List<String> functions,
        long[] offsets,
        boolean returns,
        long[] semaphores,
        long[] cookies,
        int pid)
        implements AttachTarget.UprobeMulti {
    static final long[] NONE = {};

    UprobeMultiData {
        requireOneForEach(count(functions, offsets), semaphores, "semaphores");
        requireOneForEach(count(functions, offsets), cookies, "cookies");
        UprobeData.requirePid(pid);
    }

    private static int count(List<String> functions, long[] offsets) {
        return functions.isEmpty() ? offsets.length : functions.size();
    }

    static UprobeMultiData of(TargetFile file, List<String> functions, long[] offsets, boolean returns) {
        return new UprobeMultiData(file, functions, offsets, returns, NONE, NONE, 0);
    }

    static void requireOneForEach(int count, long[] values, String name) {
        if (values.length != 0 && values.length != count) {
            throw new IllegalArgumentException(
                    count + " functions or sites, but " + values.length + " " + name + ": there must be one for each");
        }
    }

    @Override
    public long[] offsets() {
        return offsets.length == 0 ? NONE : offsets.clone();
    }

    @Override
    public long[] semaphores() {
        return semaphores.length == 0 ? NONE : semaphores.clone();
    }

    @Override
    public long[] cookies() {
        return cookies.length == 0 ? NONE : cookies.clone();
    }
}

record KprobeData(String function, long offset, boolean returns, long cookie) implements AttachTarget.Kprobe {}

record KsyscallData(String name, boolean returns, long cookie) implements AttachTarget.Ksyscall {}

record KprobeMultiData(List<String> functions, List<Long> cookies, boolean returns)
        implements AttachTarget.KprobeMulti {
    static List<Long> cookies(List<String> functions, long[] values) {
        UprobeMultiData.requireOneForEach(functions.size(), values, "cookies");
        return Arrays.stream(values).boxed().toList();
    }
}

record TracepointData(String category, String name, long cookie) implements AttachTarget.Tracepoint {}

record RawTracepointData(String name, long cookie) implements AttachTarget.RawTracepoint {}

record TracingData(long cookie) implements AttachTarget.Tracing {}

record TracingMultiData(List<String> functions, List<Long> cookies) implements AttachTarget.TracingMulti {}

record FreplaceData(ProgramHandle program, String function) implements AttachTarget.Freplace {}

record PerfEventData(int type, long config, long period, boolean isPerSecond, int tid, int cpu, long cookie)
        implements AttachTarget.PerfEvent {
    PerfEventData {
        if (period <= 0 || cpu < -1 || tid < 0) {
            throw new IllegalArgumentException("period " + period + ", CPU " + cpu + ", thread " + tid
                    + ": the period must be positive, the CPU at least -1, and the thread at least 0");
        }
    }
}

record OpenPerfEventData(int descriptor, long cookie) implements AttachTarget.OpenPerfEvent {}

record CgroupData(Path directory, Optional<AttachType> attachType, Anchor anchor) implements AttachTarget.Cgroup {}

record XdpData(NetDevice device, AttachTarget.Xdp.Mode mode) implements AttachTarget.Xdp {}

record TcxData(NetDevice device, boolean isIngress, Anchor anchor) implements AttachTarget.Tcx {}

record NetkitData(NetDevice device, boolean isPeer, Anchor anchor) implements AttachTarget.Netkit {}

record NetfilterData(int family, AttachTarget.Netfilter.Hook hook, int priority, boolean defragments)
        implements AttachTarget.Netfilter {}

record NetNamespaceData(Path file, Optional<AttachType> attachType) implements AttachTarget.NetNamespace {}

record SockmapData(BpfMap map, Optional<AttachType> attachType) implements AttachTarget.Sockmap {}

record IterData(Optional<BpfMap> map, Optional<Path> cgroup, AttachTarget.Iter.Walk walk, int pid, int tid)
        implements AttachTarget.Iter {}

record LircData(Path device) implements AttachTarget.Lirc {}
