package io.bpf4j.loader.map;

/** A place in a stack trace. <i>Immutable.</i> */
public sealed interface StackFrame {
    /** An address in the kernel, or in the process's address space at the time of the trace. */
    record Address(long address) implements StackFrame {}

    /**
     * A place in a file, which remains valid after the process has ended.
     *
     * @param buildId of the file, 40 hexadecimal digits
     * @param fileOffset bytes from its start
     */
    record InFile(String buildId, long fileOffset) implements StackFrame {}
}
