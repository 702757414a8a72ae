package io.bpf4j.loader.map;

import io.bpf4j.loader.kernel.MapType;
import java.lang.foreign.MemorySegment;

/**
 * Memory that programs and processes share at the same addresses (Linux 6.9): a pointer that a program stores in an arena
 * leads to the same place here. A view: the {@link BpfMap} stays its owner's to close, and the memory goes with it.
 * <i>Thread-safe</i>, as memory is: who shares it with programs needs atomic access where they do.
 *
 * <p>A page is there once a program has allocated it ({@code bpf_arena_alloc_pages}), or once it is touched here. Where
 * the arena was made with {@code BPF_F_SEGV_ON_FAULT}, touching a page that no program has allocated is a SIGSEGV, and
 * ends the JVM.
 */
public final class ArenaMap {
    private final BpfMap map;
    private final MemorySegment memory;

    private ArenaMap(BpfMap map, MemorySegment memory) {
        this.map = map;
        this.memory = memory;
    }

    /**
     * A view of the map; maps it into memory, if it isn't.
     *
     * @throws IllegalArgumentException if it is no arena
     * @throws io.bpf4j.loader.error.SyscallException if another process has it at an address that is taken here (EBUSY,
     *     EEXIST)
     */
    public static ArenaMap of(BpfMap map) {
        if (map.typeNumber() != MapType.ARENA.number()) {
            throw new IllegalArgumentException("map \"" + map.name() + "\" is no arena");
        }
        return new ArenaMap(map, map.arena());
    }

    /** The map behind this view. */
    public BpfMap map() {
        return map;
    }

    /** All of it, pages that aren't there included: {@code max_entries} pages. Its address is the one programs know. */
    public MemorySegment memory() {
        return memory;
    }

    /**
     * What a pointer leads to.
     *
     * @param pointer as a program stored it: the address here, or the lower 32 bits of it
     * @param size in bytes
     * @throws IndexOutOfBoundsException if that is not within the arena, as with a null pointer
     */
    public MemorySegment at(long pointer, long size) {
        // An arena never crosses a multiple of 4 GiB, so the lower half of an address says it all.
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
