package io.bpf4j.loader.map;

import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.MemorySegment;

/**
 * Memory that programs and processes share at the same addresses (Linux 6.9): a pointer that a program stores in an
 * arena is valid in Java too. A view: the {@link BpfMap} still belongs to its owner, who must close it. Closing it
 * unmaps the memory. <i>Thread-safe</i> as shared memory: use atomic access for data that programs access atomically.
 *
 * <p>A page exists once a program has allocated it ({@code bpf_arena_alloc_pages}), or once Java touches it. If the
 * arena was created with {@code BPF_F_SEGV_ON_FAULT}, touching a page that no program has allocated raises SIGSEGV,
 * which ends the JVM.
 *
 * <p>The variables of the object ({@code __arena} in C) are in its last pages on Linux 7.0 and later, and in its first
 * pages on older kernels: {@link io.bpf4j.loader.BpfObject#global} finds them.
 *
 * <p>Tested by {@code WholeObjectTest} and {@code ArenaOnKernelTest}.
 */
public final class ArenaMap {
    private final BpfMap map;
    private final MemorySegment memory;

    private ArenaMap(BpfMap map, MemorySegment memory) {
        this.map = map;
        this.memory = memory;
    }

    /**
     * A view of the map; maps the arena into memory if it is not mapped yet.
     *
     * @throws IllegalArgumentException if it is not an arena
     * @throws io.bpf4j.sys.SyscallException if another process has mapped the arena at an address that is in
     *     use in this process (EBUSY, EEXIST)
     */
    public static ArenaMap of(BpfMap map) {
        if (map.typeNumber() != MapType.ARENA.number()) {
            throw new IllegalArgumentException("map \"" + map.name() + "\" is not an arena");
        }
        return new ArenaMap(map, map.arena());
    }

    /**
     * The whole arena, unallocated pages included: {@code max_entries} pages. Its address is the one that programs use.
     */
    public MemorySegment memory() {
        return memory;
    }

    /**
     * The memory that a pointer refers to.
     *
     * @param pointer as a program stored it: the address in this process, or its lower 32 bits
     * @param size in bytes
     * @throws IndexOutOfBoundsException if the memory is not within the arena, as with a null pointer
     */
    public MemorySegment at(long pointer, long size) {
        // An arena never crosses a multiple of 4 GiB, so the lower half of an address is sufficient.
        long offset = (pointer - memory.address()) & 0xffffffffL;
        if (pointer == 0) {
            throw new IndexOutOfBoundsException("null pointer in arena \"" + map.name() + "\"");
        }
        if (pointer >>> 32 != 0 && pointer - memory.address() != offset) {
            throw new IndexOutOfBoundsException("pointer 0x" + Long.toHexString(pointer) + " is not in arena \""
                    + map.name() + "\" at 0x" + Long.toHexString(memory.address()));
        }
        return memory.asSlice(offset, size);
    }

    @Override
    public String toString() {
        return "arena " + map.name() + ", " + memory.byteSize() + " bytes at 0x" + Long.toHexString(memory.address());
    }
}
