package io.bpf4j.trace.stack;

/**
 * A frame of a stack, with the name of its function if it was found. <i>Immutable.</i>
 *
 * <p>Names come from files of other owners and may have any characters. Escape them for display, as {@link StackCounts}
 * does. A {@link Symbolizer} cuts function and symbol after 1,024 characters.
 *
 * @param address the address in the process or the kernel; for a frame that is a place in a file, the file offset in
 *     bytes
 * @param function the function's name, demangled and without parameters; empty if unknown
 * @param symbol the function's name in the symbol table; empty if unknown
 * @param offset bytes from the start of the function. If the function is unknown: the virtual address in the ELF file,
 *     which {@code addr2line -e} takes, or else the offset in the file or mapping
 * @param module the file as the process names it, a mapping such as {@code [vdso]}, or a module of the kernel; empty
 *     for the kernel itself and if unknown
 * @param source where the name was found
 */
public record Frame(long address, String function, String symbol, long offset, String module, Source source) {

    /** Where a frame's name was found. */
    public enum Source {
        /** The symbol table of the file. */
        SYMBOLS,
        /** The dynamic symbols of the file, which contain only the functions that it exports. */
        DYNAMIC_SYMBOLS,
        /** The compressed symbols in a stripped file, {@code .gnu_debugdata}. */
        MINI_DEBUG_INFO,
        /** The file's separate debug file. */
        DEBUG_FILE,
        /** The list of compiled code that a just-in-time compiler writes; see {@link PerfMap}. */
        PERF_MAP,
        /** The kernel's symbols. */
        KERNEL,
        /** Only the mapping is known, not the function. */
        MAPPING,
        /** Nothing is known: no mapping contains the address. */
        UNKNOWN
    }

    static Frame unknown(long address) {
        return new Frame(address, "", "", 0, "", Source.UNKNOWN);
    }

    /** Whether the function is known. */
    public boolean isNamed() {
        return !function.isEmpty();
    }

    /**
     * The frame as one short text: the function's name, {@code [libfoo.so+0x1234]} if only the mapping is known, else
     * {@code [unknown]}. The name of a kernel module follows the function's: {@code ext4_sync_file [ext4]}.
     */
    public String label() {
        if (isNamed()) {
            return source == Source.KERNEL && !module.isEmpty() ? function + " [" + module + "]" : function;
        }
        if (module.isEmpty()) {
            return "[unknown]";
        }
        // "[vdso]" has brackets of its own.
        boolean bracketed = module.startsWith("[") && module.endsWith("]");
        String name =
                bracketed ? module.substring(1, module.length() - 1) : module.substring(module.lastIndexOf('/') + 1);
        return "[" + name + "+0x" + Long.toHexString(offset) + "]";
    }

    @Override
    public String toString() {
        return label();
    }
}
