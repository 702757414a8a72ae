package io.bpf4j.sys.internal.call;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The code of a loaded program, as {@code struct bpf_prog_info} points to it. The kernel leaves an array empty that this
 * process may not see. <i>Immutable</i> as long as the arrays are not modified.
 *
 * @param instructions after verification, 8 bytes each
 * @param machineCode of all functions, one after the other
 * @param addresses of the functions in the kernel; all 0 if it hides addresses
 * @param lengths of the machine code of the functions, in bytes
 * @param functions for each function its first slot and its type in the program's BTF
 * @param lines for each source line its first slot, two offsets of strings in the BTF (file, text), line and column
 * @param lineAddresses for each source line its address in the machine code
 */
@SuppressWarnings("ArrayRecordComponent") // passed on once, never compared
public record RawCode(
        byte[] instructions,
        byte[] machineCode,
        long[] addresses,
        int[] lengths,
        int[] functions,
        int[] lines,
        long[] lineAddresses) {
    /** Words of {@code struct bpf_func_info}. */
    public static final int FUNCTION_WORDS = 2;

    /** Words of {@code struct bpf_line_info}. */
    public static final int LINE_WORDS = 4;

    /** What the kernel fills. */
    record Buffers(
            MemorySegment instructions,
            MemorySegment machineCode,
            MemorySegment addresses,
            MemorySegment lengths,
            MemorySegment functions,
            MemorySegment lines,
            MemorySegment lineAddresses) {
        RawCode read(StructLayout layout, MemorySegment info) {
            return new RawCode(
                    Struct.filled(instructions, layout.u32(info, "xlated_prog_len")),
                    Struct.filled(machineCode, layout.u32(info, "jited_prog_len")),
                    longs(addresses, layout.u32(info, "nr_jited_ksyms")),
                    ints(lengths, layout.u32(info, "nr_jited_func_lens")),
                    ints(functions, layout.u32(info, "nr_func_info") * FUNCTION_WORDS),
                    ints(lines, layout.u32(info, "nr_line_info") * LINE_WORDS),
                    longs(lineAddresses, layout.u32(info, "nr_jited_line_info")));
        }

        private static long[] longs(MemorySegment buffer, int count) {
            long size = Math.min(buffer.byteSize(), Integer.toUnsignedLong(count) * Long.BYTES);
            return buffer.asSlice(0, size).toArray(ValueLayout.JAVA_LONG);
        }

        private static int[] ints(MemorySegment buffer, int count) {
            long size = Math.min(buffer.byteSize(), Integer.toUnsignedLong(count) * Integer.BYTES);
            return buffer.asSlice(0, size).toArray(ValueLayout.JAVA_INT);
        }
    }

    /** Sets the buffers in {@code info}, as large as {@code sizes} says. */
    static Buffers request(Call call, StructLayout layout, MemorySegment sizes, MemorySegment info) {
        MemorySegment instructions = array(call, layout, sizes, info, "xlated_prog_len", "xlated_prog_insns", 1);
        MemorySegment machineCode = array(call, layout, sizes, info, "jited_prog_len", "jited_prog_insns", 1);
        MemorySegment addresses = array(call, layout, sizes, info, "nr_jited_ksyms", "jited_ksyms", Long.BYTES);
        MemorySegment lengths =
                array(call, layout, sizes, info, "nr_jited_func_lens", "jited_func_lens", Integer.BYTES);
        layout.set(info, "func_info_rec_size", FUNCTION_WORDS * Integer.BYTES);
        layout.set(info, "line_info_rec_size", LINE_WORDS * Integer.BYTES);
        layout.set(info, "jited_line_info_rec_size", Long.BYTES);
        return new Buffers(
                instructions,
                machineCode,
                addresses,
                lengths,
                array(call, layout, sizes, info, "nr_func_info", "func_info", FUNCTION_WORDS * Integer.BYTES),
                array(call, layout, sizes, info, "nr_line_info", "line_info", LINE_WORDS * Integer.BYTES),
                array(call, layout, sizes, info, "nr_jited_line_info", "jited_line_info", Long.BYTES));
    }

    private static MemorySegment array(
            Call call,
            StructLayout layout,
            MemorySegment sizes,
            MemorySegment info,
            String count,
            String pointer,
            int elementBytes) {
        int elements = layout.u32(sizes, count);
        if (elements == 0) {
            return MemorySegment.NULL;
        }
        MemorySegment buffer = call.allocate(Integer.toUnsignedLong(elements) * elementBytes, Long.BYTES);
        layout.set(info, count, elements);
        layout.set(info, pointer, buffer);
        return buffer;
    }
}
