package io.bpf4j.loader.link;

/**
 * A system call by its name, such as {@code openat}: a kprobe of the function that implements it. The function's
 * name depends on architecture and kernel; {@code SEC("ksyscall")}, {@code SEC("kretsyscall")}.
 */
public sealed interface Ksyscall extends AttachTarget {
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

record KsyscallData(String name, boolean returns, long cookie) implements Ksyscall {
    @Override
    public String description() {
        return TargetArguments.returnPrefix(returns) + "system call " + name;
    }
}
