package io.bpf4j.sys.internal.call;

import io.bpf4j.elf.internal.text.CString;
import java.lang.foreign.MemorySegment;

/**
 * The kernel's information about loaded BTF ({@code struct bpf_btf_info}), with the types. <i>Immutable</i> as long as
 * the array is not modified.
 *
 * @param id the kernel's id of the BTF
 * @param name {@code vmlinux} or a module's name; empty for BTF that a process loaded
 * @param ofKernel whether it describes the kernel or a module
 * @param size of the BTF in bytes
 * @param data the BTF itself; empty if it was not asked for
 */
@SuppressWarnings("ArrayRecordComponent") // passed on once, never compared
public record BtfInfo(int id, String name, boolean ofKernel, int size, byte[] data) {
    public BtfInfo(int id, String name, boolean ofKernel, byte[] data) {
        this(id, name, ofKernel, data.length, data);
    }

    static final StructLayout LAYOUT =
            StructLayout.of("bpf_btf_info", "u64 btf; u32 btf_size, id; u64 name; u32 name_len, kernel_btf");

    /** Sets the buffers that the kernel fills with the types and the name. */
    static void request(MemorySegment info, MemorySegment data, MemorySegment name) {
        LAYOUT.setAll(info, data.address(), data.byteSize(), 0, name.address(), name.byteSize());
    }

    static BtfInfo read(MemorySegment info, MemorySegment data, MemorySegment name) {
        return new BtfInfo(
                LAYOUT.u32(info, "id"),
                CString.of(name),
                LAYOUT.u32(info, "kernel_btf") != 0,
                LAYOUT.u32(info, "btf_size"),
                Struct.filled(data, LAYOUT.u32(info, "btf_size")));
    }
}
