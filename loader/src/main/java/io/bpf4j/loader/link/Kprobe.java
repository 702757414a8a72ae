package io.bpf4j.loader.link;

/** A function of the kernel, through a perf event; {@code SEC("kprobe")}, {@code SEC("kretprobe")}. */
public sealed interface Kprobe extends AttachTarget {
    /**
     * The start of a function, by its name in /proc/kallsyms.
     *
     * @param function of a module if it begins with the module's name and a colon: {@code "nf_tables:nft_do_chain"};
     *     without a module, a name that several functions of the kernel and its modules share is refused (Linux 6.7).
     *     With one, the address is looked up when the program is attached, which needs CAP_SYSLOG
     */
    static Kprobe entry(String function) {
        return new KprobeData(function, 0, 0, false, 0);
    }

    /**
     * An instruction by its address, as in /proc/kallsyms; for functions whose names several others have, which the
     * kernel refuses by name (Linux 6.7).
     *
     * @throws IllegalArgumentException if it is 0: kallsyms hides addresses from processes without the rights
     */
    static Kprobe entry(long address) {
        return new KprobeData("", TargetArguments.requireAddress(address), 0, false, 0);
    }

    /** The return of a function; otherwise as {@link #entry(String)}. */
    static Kprobe exit(String function) {
        return new KprobeData(function, 0, 0, true, 0);
    }

    /** The return of the function that starts at an address; otherwise as {@link #entry(long)}. */
    static Kprobe exit(long address) {
        return new KprobeData("", TargetArguments.requireAddress(address), 0, true, 0);
    }

    /** Empty if the place is an address. */
    String function();

    /** 0 if the place is a function by its name. */
    long address();

    /** Bytes from the start of the function, or from the address. */
    long offset();

    /** Whether to fire when the function returns. */
    boolean returns();

    long cookie();

    /** An instruction of the function, by its distance from the function's start in bytes. */
    default Kprobe withOffset(long bytes) {
        return new KprobeData(function(), address(), bytes, returns(), cookie());
    }

    default Kprobe withCookie(long cookie) {
        return new KprobeData(function(), address(), offset(), returns(), cookie);
    }
}

record KprobeData(String function, long address, long offset, boolean returns, long cookie) implements Kprobe {
    @Override
    public String description() {
        return (returns ? "kretprobe at " : "kprobe at ")
                + (address == 0 ? function : "0x" + Long.toHexString(address))
                + (offset == 0 ? "" : "+" + offset);
    }
}
