package io.bpf4j.loader.map;

/** What an update may do, with the kernel's numbers (include/uapi/linux/bpf.h, BPF_ANY and so on). <i>Immutable.</i> */
public enum UpdateMode {
    /** Make the element or replace its value. */
    ANY(0),
    /** Make the element; leave one that is there alone. */
    NEW_ONLY(1),
    /** Replace the value; make no element. */
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
