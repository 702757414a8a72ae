package io.bpf4j.test.support;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfFile;
import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.TestRun;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.PerfCommand;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Something a test may need of the machine, with the words that tell a person how to provide it. A long file, because
 * it is a catalogue: one entry for each thing, and how to look for it.
 */
public enum Requirement {
    /** Loading and attaching BPF programs. */
    BPF("root, or the capabilities CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN") {
        @Override
        boolean present() {
            return isRoot();
        }
    },
    /** The uprobe_multi link. */
    UPROBE_MULTI("Linux 6.6 or later, for uprobe_multi links") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 6);
        }
    },
    /** The uprobe_multi link, with a pid that means a process and not one thread. */
    UPROBE_MULTI_PROCESS("Linux 6.10 or later, for uprobe_multi links of a whole process") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 10);
        }
    },
    SLEEPABLE_UPROBE("Linux 6.0 or later, for uprobe programs that may sleep") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 0);
        }
    },
    /** Programs that fire on entry and on return of a function. */
    UPROBE_SESSION("Linux 6.13 or later, for uprobe sessions") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 13);
        }
    },
    /** Programs for TC by links, in an order. */
    TCX("Linux 6.6 or later, for tcx links") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 6);
        }
    },
    /** A module with functions to trace. */
    EXT4_MODULE("a kernel whose ext4 is a module that shows its types (CONFIG_DEBUG_INFO_BTF_MODULES)") {
        @Override
        boolean present() {
            return Files.exists(Path.of("/sys/kernel/btf/ext4"));
        }
    },
    /** A module with functions for programs to call, and to ask for first: 58aa2afbb1e6 lets them take the address. */
    NF_CONNTRACK_MODULE("Linux 6.4 or later with nf_conntrack as a module that is loaded and shows its types") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 4) && Files.exists(Path.of("/sys/kernel/btf/nf_conntrack"));
        }
    },
    /** Streams of text that programs write to. */
    STREAMS("Linux 6.17 or later, for streams of programs") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 17);
        }
    },
    /** A kernel may have no memory to give where it must not wait for any, and some never have: it is asked. */
    STREAM_MEMORY("a kernel that gives programs memory for their streams (the program gets ENOMEM)") {
        @Override
        boolean present() {
            if (!STREAMS.present()) {
                return false;
            }
            try (BpfObject object =
                    Bpf.load("streams.bpf.o", loader -> loader.program("say", p -> p.withAutoload(true)))) {
                // One that has memory may have none just now.
                for (int attempt = 0; attempt < 100; attempt++) {
                    if (object.program("say").test(TestRun.once()).returned() != Errno.ENOMEM.number()) {
                        return true;
                    }
                }
                return false;
            }
        }
    },
    /** Indirect jumps, and maps of type INSN_ARRAY. */
    JUMP_TABLES("Linux 6.19 or later, for jump tables") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 19);
        }
    },
    /** Entry and exit of a function in one tracing program. */
    TRACING_SESSION("Linux 7.0 or later, for fsession") {
        @Override
        boolean present() {
            return kernelIsAtLeast(7, 0);
        }
    },
    /** Programs that work for a struct of functions. */
    STRUCT_OPS_ASSOCIATION("Linux 7.0 or later, to associate programs with structs of functions") {
        @Override
        boolean present() {
            return kernelIsAtLeast(7, 0);
        }
    },
    /** Links of one tracing program for many functions. */
    TRACING_MULTI("Linux 7.2 or later, for fentry.multi") {
        @Override
        boolean present() {
            return kernelIsAtLeast(7, 2);
        }
    },
    /** Maps of type RHASH. */
    RESIZABLE_HASH("Linux 7.2 or later, for hash maps that grow") {
        @Override
        boolean present() {
            return kernelIsAtLeast(7, 2);
        }
    },
    /** Maps of type ARENA. */
    ARENA("Linux 6.9 or later, for arenas") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 9);
        }
    },
    /** Structs of functions, attached by a link. */
    STRUCT_OPS_LINK("root, and Linux 6.4 or later, for links of struct_ops maps") {
        @Override
        boolean present() {
            return isRoot() && kernelIsAtLeast(6, 4);
        }
    },
    /** The module of test/vm/module. */
    STRUCT_OPS_MODULE("the module bpf4j_ops, which test/vm/run makes for Linux 6.12, and root") {
        @Override
        boolean present() {
            return isRoot() && Files.exists(Path.of("/sys/kernel/btf/bpf4j_ops"));
        }
    },
    NETFILTER_LINK("Linux 6.4 or later, for netfilter links") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 4);
        }
    },
    /** Iterators over the tasks of one process. */
    ITER_OF_PROCESS("Linux 6.1 or later, for iterators over one process") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 1);
        }
    },
    /** A policy may refuse them, because their programs read and write all elements of a map. */
    ITER_OF_ELEMENTS("a kernel whose policy allows iterators over the elements of a map") {
        @Override
        boolean present() {
            try (BpfObject _ =
                    Bpf.load("hooks.bpf.o", loader -> loader.program("each_element", p -> p.withAutoload(true)))) {
                return true;
            } catch (BpfException e) {
                return false;
            }
        }
    },
    /** The BTF of the running kernel. */
    KERNEL_BTF("a kernel with BTF: /sys/kernel/btf/vmlinux") {
        @Override
        boolean present() {
            return Files.exists(Path.of("/sys/kernel/btf/vmlinux"));
        }
    },
    /** Tags of functions in the kernel's BTF, by which headers get prototypes of them. */
    KERNEL_FUNCTION_TAGS("Linux 6.10 or later, whose BTF marks the functions that programs may call (pahole 1.27)") {
        @Override
        boolean present() {
            if (!KERNEL_BTF.present()) {
                return false;
            }
            try {
                Btf types = BtfFile.read(Path.of("/sys/kernel/btf/vmlinux"));
                return IntStream.range(1, types.typeCount())
                        .anyMatch(id -> types.type(id) instanceof BtfType.DeclTag tag
                                && tag.name().equals("bpf_kfunc"));
            } catch (IOException e) {
                return false;
            }
        }
    },
    LD_CACHE("the dynamic linker's cache /etc/ld.so.cache: ldconfig") {
        @Override
        boolean present() {
            return Files.exists(Path.of("/etc/ld.so.cache"));
        }
    },
    /** One in which groups can be made. */
    CGROUP2("a mounted cgroup2 file system that may be written: mount -t cgroup2 none /sys/fs/cgroup") {
        @Override
        boolean present() {
            return OwnCgroup.find().filter(Files::isWritable).isPresent();
        }
    },
    /** Programs of a control group run in an order that can be chosen. */
    CGROUP_ORDER("Linux 6.17 or later, for places in the order of a control group") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 17);
        }
    },
    /** Functions of the kernel can be probed. */
    KPROBES("a kernel with kprobes and ftrace (CONFIG_KPROBES, CONFIG_FPROBE)") {
        @Override
        boolean present() {
            return Files.exists(Path.of("/sys/bus/event_source/devices/kprobe/type"));
        }
    },
    KPROBE_MULTI("Linux 5.18 or later with fprobe (CONFIG_FPROBE), for kprobe_multi links") {
        @Override
        boolean present() {
            return kernelIsAtLeast(5, 18) && hasKernelSymbol("register_fprobe");
        }
    },
    KPROBE_SESSION("Linux 6.10 or later with fprobe (CONFIG_FPROBE), for kprobe sessions") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 10) && KPROBE_MULTI.present();
        }
    },
    /** Programs at the start and end of functions of the kernel. */
    FENTRY("a kernel with BTF and ftrace that lets programs be attached to its functions") {
        @Override
        boolean present() {
            // Where a policy takes the kernel's functions away, it takes kprobes, too.
            return KERNEL_BTF.present() && KPROBES.present();
        }
    },
    /** Some kernels refuse all programs that attach to functions, these too: one is loaded to see. */
    FREPLACE("a kernel whose policy lets a program replace a function of another") {
        @Override
        boolean present() {
            try (BpfObject replaced = Bpf.load("replaced.bpf.o");
                    BpfObject replacement = BpfLoader.of(Bpf.spec("replacement.bpf.o"))
                            .attachTo("better", replaced.program("ask"))
                            .load()) {
                return !replacement.programs().isEmpty();
            } catch (SyscallException e) {
                if (e.errno() == Errno.EPERM) {
                    return false;
                }
                throw e;
            }
        }
    },
    LIVE_FRAMES("Linux 5.18 or later, for test runs whose packets are sent on") {
        @Override
        boolean present() {
            return kernelIsAtLeast(5, 18);
        }
    },
    TRACING_COOKIE("Linux 5.19 or later, for cookies of fentry programs") {
        @Override
        boolean present() {
            return kernelIsAtLeast(5, 19);
        }
    },
    RAW_TRACEPOINT_COOKIE("Linux 6.10 or later, for cookies of raw tracepoints") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 10);
        }
    },
    /** The kernel says what a perf link is attached to. */
    PERF_LINK_INFO("Linux 6.6 or later, for the details of perf links") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 6);
        }
    },
    /** The kernel says what a multi-uprobe link is attached to. */
    UPROBE_MULTI_INFO("Linux 6.8 or later, for the details of multi-uprobe links") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 8);
        }
    },
    /** A pair of netkit devices, made to see whether it can be. */
    NETKIT("root, gcc and a kernel with netkit devices (CONFIG_NETKIT, Linux 6.7)") {
        @Override
        boolean present() {
            return NetkitPair.isPossible();
        }
    },
    KERNEL_BTF_ID("Linux 5.11 or later, whose own types have an id") {
        @Override
        boolean present() {
            return kernelIsAtLeast(5, 11);
        }
    },
    /** BPF cookies and perf links. */
    BPF_COOKIE("Linux 5.15 or later, for BPF cookies") {
        @Override
        boolean present() {
            return kernelIsAtLeast(5, 15);
        }
    },
    /** Locks in sections of global variables, where only structs had them before. */
    LOCK_IN_DATA("Linux 6.2 or later, for locks among global variables") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 2);
        }
    },
    /** The helper that calls a function again and again. */
    BPF_LOOP("Linux 5.17 or later, for the helper bpf_loop") {
        @Override
        boolean present() {
            return kernelIsAtLeast(5, 17);
        }
    },
    /** Bloom filters, the newest of the plain map types. */
    BLOOM_FILTER("Linux 5.16 or later, for bloom filters") {
        @Override
        boolean present() {
            return kernelIsAtLeast(5, 16);
        }
    },
    CORPUS("Linux 6.1 or later, the oldest kernel that the corpus of BPF programs is written for") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 1);
        }
    },
    GROUP_STORAGE("Linux 6.2 or later, for maps of type CGRP_STORAGE") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 2);
        }
    },
    /** Functions of the kernel for programs, and the objects, lists and trees that programs make by them. */
    KERNEL_FUNCTIONS("Linux 6.3 or later, for functions of the kernel that any program may call") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 3);
        }
    },
    /** Loops over things of the kernel, written in the program; and test runs of netfilter programs. */
    OPEN_CODED_ITERATORS("Linux 6.4 or later, for iterators in programs") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 4);
        }
    },
    /** Signed division, sign-extending loads and moves, byte swaps and far jumps: cpu v4. */
    INSTRUCTIONS_V4("Linux 6.6 or later, for the instructions of BPF CPU v4") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 6);
        }
    },
    /** {@code bpf_throw}, and programs for unix sockets in control groups. */
    EXCEPTIONS("Linux 6.7 or later, for exceptions") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 7);
        }
    },
    MAY_GOTO("Linux 6.9 or later, for may_goto") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 9);
        }
    },
    WORK_QUEUES("Linux 6.10 or later, for work queues of programs") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 10);
        }
    },
    /** Programs at security hooks: refused by the policies that refuse programs for functions. */
    LSM("a kernel with BPF among its security modules (lsm=…,bpf) that lets programs be attached there") {
        @Override
        boolean present() {
            try {
                return FENTRY.present()
                        && Files.readString(Path.of("/sys/kernel/security/lsm")).contains("bpf");
            } catch (IOException e) {
                return false;
            }
        }
    },
    VARIABLE_SYMBOLS("a kernel whose table of symbols has variables, too (CONFIG_KALLSYMS_ALL)") {
        @Override
        boolean present() {
            return hasKernelSymbol("runqueues");
        }
    },
    LIRC("a kernel that lets programs decode remote controls (CONFIG_BPF_LIRC_MODE2)") {
        @Override
        boolean present() {
            return hasKernelSymbol("lirc_mode2_verifier_ops");
        }
    },
    /** {@code /sys/kernel/tracing}, mounted by the test if it isn't. */
    TRACEFS("tracefs: mount -t tracefs tracefs /sys/kernel/tracing") {
        @Override
        boolean present() {
            return TraceFs.isMounted();
        }
    },
    /** Programs of type syscall, and raw tracepoints that run without being attached. */
    SYSCALL_PROGRAM("Linux 5.14 or later, for syscall programs") {
        @Override
        boolean present() {
            return kernelIsAtLeast(5, 14);
        }
    },
    USER_RING_BUFFER("Linux 6.1 or later, for user ring buffers") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 1);
        }
    },
    /** Rights delegated through a BPF file system. */
    BPF_TOKEN("Linux 6.9 or later, for BPF tokens") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 9);
        }
    },
    /** One whose settings a test may change, for nothing else runs on it. */
    OWN_MACHINE("a machine for these tests alone: a guest of test/vm/run, which says so to its kernel") {
        @Override
        boolean present() {
            try {
                return isRoot() && Files.readString(Path.of("/proc/cmdline")).contains("bpf4j.checkout=");
            } catch (IOException e) {
                return false;
            }
        }
    },
    YAMA("a kernel with Yama among its security modules (CONFIG_SECURITY_YAMA)") {
        @Override
        boolean present() {
            return Files.exists(Path.of("/proc/sys/kernel/yama/ptrace_scope"));
        }
    },
    /** Kernels differ in what they refuse, so the page is for the newer ones. */
    CONTAINER_TABLE("Linux 6.18 or later, for which the table of docs/containers.md is") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 18);
        }
    },
    /** Tried, because it is refused in a chroot (user_namespaces(7)) and by some policies. */
    USER_NAMESPACES("the right to make a user namespace (not in a chroot): unshare --user true") {
        @Override
        boolean present() {
            return Commands.succeeds("unshare", "--user", "true");
        }
    },
    /** Tried as the tests do it: in a chroot the root directory is not a mount, whose propagation could be changed. */
    MOUNT_NAMESPACES("the right to make a mount namespace (not in a chroot): unshare --mount true") {
        @Override
        boolean present() {
            return Commands.succeeds("unshare", "--mount", "true");
        }
    },
    NET_NAMESPACES("the right to make a network namespace: unshare --net true") {
        @Override
        boolean present() {
            return Commands.succeeds("unshare", "--net", "true");
        }
    },
    PID_NAMESPACES("the right to make a pid namespace: unshare --pid --fork true") {
        @Override
        boolean present() {
            return Commands.succeeds("unshare", "--pid", "--fork", "true");
        }
    },
    /** Tried: a control group has none if the kernel divides them (CONFIG_RT_GROUP_SCHED) and it was given no share. */
    REAL_TIME("real-time priorities, which a container may not have: chrt --fifo 1 true") {
        @Override
        boolean present() {
            return Commands.succeeds("chrt", "--fifo", "1", "true");
        }
    },
    /** A BPF file system that a test mounts for itself. */
    BPFFS("the right to mount a BPF file system: mount -t bpf") {
        @Override
        boolean present() {
            return BpfFsMount.isAllowed();
        }
    },
    UNPRIVILEGED_PINS("Linux 5.19 or later, for pins that a process without capabilities opens") {
        @Override
        boolean present() {
            return kernelIsAtLeast(5, 19);
        }
    },
    OVERLAY("overlay file systems, and the right to mount one (CAP_SYS_ADMIN)") {
        @Override
        boolean present() {
            return Mount.isAllowed("overlay", "lowerdir=/usr:/etc");
        }
    },
    /** A machine that the C programs have sites in assembler for. */
    ASSEMBLER("x86-64, arm64, riscv64 or s390x: the C programs of the tests have no assembler for this machine") {
        @Override
        boolean present() {
            return Set.of("amd64", "aarch64", "riscv64", "s390x").contains(System.getProperty("os.arch"));
        }
    },
    /**
     * bpf4j holds a command that it starts by a uprobe in the dynamic loader, on s390x at an instruction {@code br
     * %r14}. With any uprobe there, a program on qemu 7.2 does not branch, and crashes.
     */
    HELD_COMMANDS("a machine on which a program survives a uprobe on a branch: not qemu's emulation of s390x") {
        @Override
        boolean present() {
            try {
                return !System.getProperty("os.arch").equals("s390x")
                        || !Files.readString(Path.of("/proc/sysinfo")).contains("TCGguest");
            } catch (IOException e) {
                return false;
            }
        }
    },
    /** The C programs have no sites with such operands for the other machines, whose operands have none. */
    HALF_INDEX("x86-64 or arm64: operands of other machines have no index of half a register") {
        @Override
        boolean present() {
            return Set.of("amd64", "aarch64").contains(System.getProperty("os.arch"));
        }
    },
    X86_64("an x86-64 machine") {
        @Override
        boolean present() {
            return System.getProperty("os.arch").equals("amd64");
        }
    },
    /** The setting is that of the page which such programs call for the time, vdso32-setup.c. */
    IA32("an x86-64 kernel that runs 32-bit programs (CONFIG_IA32_EMULATION)") {
        @Override
        boolean present() {
            return X86_64.present() && Files.exists(Path.of("/proc/sys/abi/vsyscall32"));
        }
    },
    GCC("gcc (Debian: apt-get install gcc libc6-dev)") {
        @Override
        boolean present() {
            return Commands.find("gcc").isPresent();
        }
    },
    /** Its run-time library has probes, where libstdc++ was built with {@code <sys/sdt.h>}, as Debian's was. */
    GXX("g++ (Debian: apt-get install g++)") {
        @Override
        boolean present() {
            return Commands.find("g++").isPresent();
        }
    },
    /** The compiler of programs for musl, and its dynamic loader. */
    MUSL("musl-gcc, for programs of another libc (Debian: apt-get install musl-tools)") {
        @Override
        boolean present() {
            return Commands.find("musl-gcc").isPresent();
        }
    },
    /** It ends a process at a system call of one's choice. */
    STRACE("strace (Debian: apt-get install strace)") {
        @Override
        boolean present() {
            return Commands.find("strace").isPresent();
        }
    },
    GDB("gdb (Debian: apt-get install gdb)") {
        @Override
        boolean present() {
            return Commands.find("gdb").isPresent();
        }
    },
    GO("go (Debian: apt-get install golang-go)") {
        @Override
        boolean present() {
            return Commands.find("go").isPresent();
        }
    },
    CXXFILT("c++filt (Debian: apt-get install binutils)") {
        @Override
        boolean present() {
            return Commands.find("c++filt").isPresent();
        }
    },
    /** A real terminal, which can be typed at and looked at. */
    TMUX("tmux (Debian: apt-get install tmux)") {
        @Override
        boolean present() {
            return Commands.find("tmux").isPresent();
        }
    },
    /** Makes certificates and keys as people do. */
    OPENSSL("openssl (Debian: apt-get install openssl)") {
        @Override
        boolean present() {
            return Commands.find("openssl").isPresent();
        }
    },
    /** Judges the text that Prometheus scrapes. */
    PROMTOOL("prometheus and promtool (Debian: apt-get install prometheus)") {
        @Override
        boolean present() {
            return Commands.find("promtool").isPresent()
                    && Commands.find("prometheus").isPresent();
        }
    },
    SYSTEMD_ANALYZE("systemd-analyze (Debian: apt-get install systemd)") {
        @Override
        boolean present() {
            return Commands.find("systemd-analyze").isPresent();
        }
    },
    ZSH("zsh (Debian: apt-get install zsh)") {
        @Override
        boolean present() {
            return Commands.find("zsh").isPresent();
        }
    },
    /** Formats manual pages. */
    GROFF("groff (Debian: apt-get install groff-base)") {
        @Override
        boolean present() {
            return Commands.find("groff").isPresent();
        }
    },
    /** A browser for what is written as HTML and SVG. */
    CHROMIUM("Chromium (Debian: apt-get install chromium-headless-shell)") {
        @Override
        boolean present() {
            return Commands.find("chromium-headless-shell").isPresent();
        }
    },
    SDT_H("<sys/sdt.h> (Debian: apt-get install systemtap-sdt-dev)") {
        @Override
        boolean present() {
            return Files.exists(Path.of("/usr/include/sys/sdt.h")) || inMultiarchInclude("sys/sdt.h");
        }
    },
    /** Asked for, because virtual machines may lack them. */
    BREAKPOINTS("root, and a processor with breakpoints for memory (CONFIG_HAVE_HW_BREAKPOINT)") {
        @Override
        boolean present() {
            if (!BPF.present()) {
                return false;
            }
            PerfCommand.Open.Breakpoint memory = new PerfCommand.Open.Breakpoint(2, 8, 8);
            try (Fd _ = Kernel.of(Host.running())
                    .execute(PerfCommand.Open.sampling("breakpoint", 5, 0, 1, false, 0, -1, memory, false))) {
                return true;
            } catch (SyscallException e) {
                return false;
            }
        }
    },
    /** The emulated processor of a guest on 7.2 has counted 9 hits of 5 writes. */
    COUNTED_WRITES("a processor that reports each write to watched memory once: not qemu's emulation of x86-64") {
        @Override
        boolean present() {
            try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
                return lines.noneMatch(line -> line.startsWith("model name") && line.contains("QEMU TCG"));
            } catch (IOException e) {
                return true;
            }
        }
    },
    EXCLUSIVE_MAPS("Linux 6.18 or later, for maps that one program alone may use") {
        @Override
        boolean present() {
            return kernelIsAtLeast(6, 18);
        }
    },
    /** Asked for, because most virtual machines lack them. */
    HARDWARE_EVENTS("root, and a processor whose events can be counted (virtual machines often have none)") {
        @Override
        boolean present() {
            if (!BPF.present()) {
                return false;
            }
            try (Fd _ = Kernel.of(Host.running())
                    .execute(PerfCommand.Open.sampling("cycles", 0, 0, 1_000_000, false, 0, -1, null, false))) {
                return true;
            } catch (SyscallException e) {
                return false;
            }
        }
    },
    IPROUTE("ip and tc (Debian: apt-get install iproute2)") {
        @Override
        boolean present() {
            return Commands.find("ip").isPresent() && Commands.find("tc").isPresent();
        }
    },
    /** What libbpf makes of an object. */
    BPFTOOL("bpftool (Debian: apt-get install bpftool)") {
        @Override
        boolean present() {
            return Commands.find("bpftool").isPresent() || Files.isExecutable(Path.of("/usr/sbin/bpftool"));
        }
    },
    /** As {@link #BPFTOOL}, of a libbpf that knows newer sections and kinds. */
    LIBBPF("libbpf 1.3 or later with libelf-dev and zlib1g-dev, built by test/libbpf/loadall") {
        @Override
        boolean present() {
            return LibbpfLoader.program().isPresent();
        }
    },
    /** Half a hundred BPF objects that others wrote. */
    LIBBPF_TOOLS("the package libbpf-tools (Debian: apt-get install libbpf-tools)") {
        @Override
        boolean present() {
            return !LibbpfTools.tools().isEmpty();
        }
    },
    READELF("readelf (Debian: apt-get install binutils)") {
        @Override
        boolean present() {
            return Commands.find("readelf").isPresent();
        }
    },
    CLANG("clang that compiles for BPF (Debian: apt-get install clang-19)") {
        @Override
        boolean present() {
            return Commands.clang().isPresent();
        }
    },
    LIBBPF_HEADERS("libbpf's <bpf/usdt.bpf.h> (Debian: apt-get install libbpf-dev)") {
        @Override
        boolean present() {
            return LibbpfHeaders.INSTALLED.folder().isPresent();
        }
    },
    /** Those of libbpf 1.7 or later, which no stable release of Debian has. */
    NEWER_LIBBPF_HEADERS(
            "the headers of libbpf 1.7 or later, fetched by test/libbpf/headers, as root and on a network") {
        @Override
        boolean present() {
            return LibbpfHeaders.NEWER.folder().isPresent();
        }
    },
    POSTGRESQL("PostgreSQL built with probes (Debian: apt-get install postgresql)") {
        @Override
        boolean present() {
            return PostgresServer.installation().isPresent();
        }
    },
    /** The running JVM's own libjvm.so has probes, as OpenJDK builds have and Oracle's have not. */
    HOTSPOT_PROBES("a JDK whose libjvm.so has USDT probes (Temurin, Debian's openjdk)") {
        @Override
        boolean present() {
            // Not asked through the code under test: a reader that finds nothing would excuse itself.
            try {
                return new String(Files.readAllBytes(ChildJvm.libjvm()), StandardCharsets.ISO_8859_1)
                        .contains("gc__begin");
            } catch (IOException e) {
                return false;
            }
        }
    };

    private final String what;

    Requirement(String what) {
        this.what = what;
    }

    /** What is missing, or empty. Asked once per test; expensive answers are cached by whoever gives them. */
    public Optional<String> missing() {
        return present() ? Optional.empty() : Optional.of(name() + ": needs " + what);
    }

    abstract boolean present();

    /** Skips the running test where something is missing, as {@link Requires} does before it. */
    public static void insistOn(List<Requirement> requirements) {
        RequirementsExtension.insistOn(requirements);
    }

    static boolean isRoot() {
        try {
            return Files.readString(Path.of("/proc/self/status"))
                    .lines()
                    .anyMatch(l -> l.matches("Uid:\\s+\\d+\\s+0\\s.*"));
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean kernelIsAtLeast(int major, int minor) {
        String[] parts = System.getProperty("os.version").split("[^0-9]+", 3);
        int runningMajor = Integer.parseInt(parts[0]);
        return runningMajor > major || (runningMajor == major && Integer.parseInt(parts[1]) >= minor);
    }

    private static boolean hasKernelSymbol(String name) {
        try (Stream<String> lines = Files.lines(Path.of("/proc/kallsyms"), StandardCharsets.ISO_8859_1)) {
            return lines.anyMatch(line -> line.endsWith(" " + name));
        } catch (IOException e) {
            return false;
        }
    }

    /** Debian keeps the headers of an architecture in a folder such as {@code /usr/include/x86_64-linux-gnu}. */
    private static boolean inMultiarchInclude(String header) {
        try (Stream<Path> folders = Files.list(Path.of("/usr/include"))) {
            return folders.filter(f ->
                            f.getFileName().toString().toLowerCase(Locale.ROOT).contains("-linux-gnu"))
                    .anyMatch(f -> Files.exists(f.resolve(header)));
        } catch (IOException e) {
            return false;
        }
    }
}
