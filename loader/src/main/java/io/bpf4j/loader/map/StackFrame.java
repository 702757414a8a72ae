package io.bpf4j.loader.map;

/** A place in a stack trace. <i>Immutable.</i> */
public sealed interface StackFrame {
    /** An address: of the kernel, or in the address space that the process had then. */
    record Address(long address) implements StackFrame {}

    /**
     * A place in a file, which stays meaningful when the process is gone.
     *
     * @param buildId of the file, 40 hexadecimal digits
     * @param fileOffset bytes from its start
     */
    record InFile(String buildId, long fileOffset) implements StackFrame {}
}
