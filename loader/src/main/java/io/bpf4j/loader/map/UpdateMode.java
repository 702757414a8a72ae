package io.bpf4j.loader.map;

/**
 * What an update may do with new and existing elements, with the kernel's flags (include/uapi/linux/bpf.h, BPF_ANY and
 * so on). <i>Immutable.</i>
 */
public enum UpdateMode {
    /** Creates the element or replaces its value. */
    ANY(0),
    /** Creates the element; an existing one is left unchanged. */
    NEW_ONLY(1),
    /** Replaces the value of an existing element; does not create one. */
    EXISTING_ONLY(2);

    private final long flag;

    UpdateMode(long flag) {
        this.flag = flag;
    }

    /** The flag in the kernel ABI. */
    public long flag() {
        return flag;
    }
}
