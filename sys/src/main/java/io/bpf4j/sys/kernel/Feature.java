package io.bpf4j.sys.kernel;

/**
 * A feature that a kernel may have, with the version and commit that added it.
 *
 * <p>The version is documentation: it is used in error messages ("requires Linux &gt;= 5.15") and in the output of
 * {@code bpf4j features}. A feature probe tells whether the running kernel has the feature. Commits are those of the
 * mainline tree. <i>Immutable.</i>
 *
 * <p>bpf4j asks for each of these features somewhere, to choose another way or to name what is missing. The oldest kernel
 * that is tested has many of them; older ones still get the fallback.
 */
public enum Feature implements KernelFeature {
    BTF("loading of BTF", 4, 18, "69b693f0aefa"),
    BTF_FUNC("BTF of functions", 5, 0, "2667a2626f4d"),
    BTF_DATASEC("BTF of variables and data sections", 5, 2, "1dc92851849c"),
    BTF_GLOBAL_FUNC("BTF of functions with a linkage", 5, 6, "51c39bb1d5d1"),
    BTF_FLOAT("BTF of floating-point types", 5, 13, "b1828f0b0482"),
    BTF_DECL_TAG("BTF declaration tags", 5, 16, "b5ea834dde6b"),
    BTF_TYPE_TAG("BTF type tags", 5, 17, "8c42d2fa4eea"),
    ARGUMENT_TAGS("tags on arguments of global functions", 6, 8, "94e1c70a3452"),
    BTF_ENUM64("BTF of 64-bit enums", 6, 0, "6089fb325cf7"),
    OBJECT_NAMES("names of programs and maps", 4, 15, "cb4d2b3f03d8"),
    EXPECTED_ATTACH_TYPE("attach type at program load", 4, 17, "5e43f899b03a"),
    GLOBAL_DATA("global variables", 5, 2, "d8eca5bbb2be"),
    MAP_FREEZE("maps frozen against writes", 5, 2, "87df15de441b"),
    MMAPABLE_ARRAY("arrays mapped into memory", 5, 5, "fc9702273e2e"),
    PROBE_READ_KERNEL("bpf_probe_read_kernel and _user", 5, 5, "6ae08ae3dea2"),
    RING_BUFFER("ring buffer map", 5, 8, "457f44363a88"),
    RUN_STATISTICS("run statistics of programs by descriptor", 5, 8, "d46edd671a14"),
    PROGRAM_BIND_MAP("maps bound to a program", 5, 10, "ef15314aa5de"),
    ATOMIC_EXCHANGE("atomic compare and exchange", 5, 12, "5ffa25502b5a"),
    MEMCG_ACCOUNTING("memory charged to the cgroup, not to RLIMIT_MEMLOCK", 5, 11, "97306be45fbe"),
    SYSCALL_WRAPPER("system calls entered through a wrapper with pt_regs", 4, 17, "fa697140f9a2"),
    RAW_TRACEPOINT("raw tracepoints", 4, 17, "c4f6699dfcb8"),
    PERF_UPROBE("uprobes through perf_event_open", 4, 17, "33ea4b24277b"),
    PERF_KPROBE("kprobes through perf_event_open", 4, 17, "e12f03d7031a"),
    UPROBE_REF_COUNTER("reference counter of a uprobe (USDT semaphores)", 4, 20, "a6ca88b241d5"),
    PERF_LINK("link of a program to a perf event", 5, 15, "b89fbfbb854c"),
    BPF_COOKIE("BPF cookies", 5, 15, "7adfc6c9b315"),
    KPROBE_MULTI_LINK("one link for many kprobes", 5, 18, "0dcac2725406"),
    BLOOM_FILTER("bloom filter map", 5, 16, "9330986c0300"),
    USER_RING_BUFFER("ring buffer that user space writes", 6, 1, "583c1f420173"),
    SLEEPABLE_UPROBE("sleepable uprobe programs", 6, 0, "8c7dcb84e3b7"),
    UPROBE_MULTI_LINK("one link for many uprobes", 6, 6, "89ae89f53d20"),
    UPROBE_MULTI_PROCESS("multi-uprobe links whose pid is a process, not a thread", 6, 10, "46ba0e49b642"),
    UPROBE_SESSION("entry and return of a function in one uprobe program", 6, 13, "d920179b3d48"),
    EXCLUSIVE_MAP("maps that one program alone may use", 6, 18, "baefdbdf6812"),
    INSN_ARRAY("maps of instruction addresses (jump tables)", 6, 19, "b4ce5923e780"),
    TRACING_SESSION("entry and exit of a function in one tracing program", 7, 0, "2d419c44658f"),
    STRUCT_OPS_ASSOCIATION("programs associated with a struct_ops map", 7, 0, "b5709f6d26d6"),
    LARGE_MAP_OFFSET("constant offsets of 512 MiB and more into a map", 7, 0, "12a1fe6e12db"),
    RESIZABLE_HASH("hash map that grows and shrinks", 7, 2, "16b4d3e2fb24"),
    TRACING_MULTI_LINK("one link of a tracing program for many functions", 7, 2, "c1d32dea5d46"),
    ARENA("memory shared with programs (arena)", 6, 9, "317460317a02"),
    UPROBE_MULTI_DESCRIPTOR("one link for many uprobes in an open file", 7, 2, "26330a922641");

    private final String description;
    private final int major;
    private final int minor;
    private final String commit;

    Feature(String description, int major, int minor, String commit) {
        this.description = description;
        this.major = major;
        this.minor = minor;
        this.commit = commit;
    }

    /** A short description, for a table or the middle of a sentence. */
    public String description() {
        return description;
    }

    /** The first mainline release that has it. */
    public KernelVersion since() {
        return KernelVersion.of(major, minor);
    }

    /** The abbreviated id of the mainline commit that added it. */
    public String commit() {
        return commit;
    }
}
