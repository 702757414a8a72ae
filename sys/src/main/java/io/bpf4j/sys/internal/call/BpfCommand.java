package io.bpf4j.sys.internal.call;

/**
 * The commands of bpf(2). Mirrors {@code enum bpf_cmd} of include/uapi/linux/bpf.h: the position of a constant is its
 * number, so all are here, also those that bpf4j does not use. A test compares them with the running kernel's types.
 */
public enum BpfCommand {
    MAP_CREATE,
    MAP_LOOKUP_ELEM,
    MAP_UPDATE_ELEM,
    MAP_DELETE_ELEM,
    MAP_GET_NEXT_KEY,
    PROG_LOAD,
    OBJ_PIN,
    OBJ_GET,
    PROG_ATTACH,
    PROG_DETACH,
    PROG_TEST_RUN,
    PROG_GET_NEXT_ID,
    MAP_GET_NEXT_ID,
    PROG_GET_FD_BY_ID,
    MAP_GET_FD_BY_ID,
    OBJ_GET_INFO_BY_FD,
    PROG_QUERY,
    RAW_TRACEPOINT_OPEN,
    BTF_LOAD,
    BTF_GET_FD_BY_ID,
    TASK_FD_QUERY,
    MAP_LOOKUP_AND_DELETE_ELEM,
    MAP_FREEZE,
    BTF_GET_NEXT_ID,
    MAP_LOOKUP_BATCH,
    MAP_LOOKUP_AND_DELETE_BATCH,
    MAP_UPDATE_BATCH,
    MAP_DELETE_BATCH,
    LINK_CREATE,
    LINK_UPDATE,
    LINK_GET_FD_BY_ID,
    LINK_GET_NEXT_ID,
    ENABLE_STATS,
    ITER_CREATE,
    LINK_DETACH,
    PROG_BIND_MAP,
    TOKEN_CREATE,
    PROG_STREAM_READ_BY_FD,
    PROG_ASSOC_STRUCT_OPS;

    /** The kernel's number. */
    @SuppressWarnings("EnumOrdinal") // the order is the kernel's
    public int number() {
        return ordinal();
    }

    /** The kernel's name: {@code BPF_MAP_CREATE}. */
    public String kernelName() {
        return "BPF_" + name();
    }

    /** The call in messages: {@code bpf(BPF_MAP_CREATE)}. */
    @Override
    public String toString() {
        return "bpf(" + kernelName() + ")";
    }
}
