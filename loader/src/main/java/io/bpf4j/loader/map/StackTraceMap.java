package io.bpf4j.loader.map;

import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * The stack traces that programs have taken with {@code bpf_get_stackid} (Linux 4.6): the id that the helper returned
 * is the key of the trace. A view: the {@link BpfMap} still belongs to its owner, who must close it.
 * <i>Thread-safe.</i>
 *
 * <p>A value is an array of as many frames as fit into {@code value_size}, the innermost first, zeroes after the last.
 * Frames are addresses of 8 bytes, or with the map flag {@code BPF_F_STACK_BUILD_ID} (Linux 4.17) 32 bytes: {@code s32
 * status}, 20 bytes of build-id, and {@code u64} offset or address; status 0 is the end, 1 has a build-id, 2 has an
 * address because the file or its build-id could not be read ({@code struct bpf_stack_build_id}).
 *
 * <p>Tested by {@code MapViewsTest} and {@code MapKindsOnKernelTest}.
 */
public final class StackTraceMap {
    /** BPF_F_STACK_BUILD_ID (include/uapi/linux/bpf.h). */
    private static final int STACK_BUILD_ID = 1 << 5;

    private static final int BUILD_ID_FRAME = 32;
    private static final int BUILD_ID = 4;
    private static final int BUILD_ID_SIZE = 20;
    private static final int OFFSET = 24;
    private static final int VALID = 1;
    private static final int IP = 2;

    /** A place in a stack trace. <i>Immutable.</i> */
    public sealed interface Frame {}

    /** An address in the kernel, or in the process's address space at the time of the trace. */
    public record Address(long address) implements Frame {}

    /**
     * A place in a file, which remains valid after the process has ended.
     *
     * @param buildId of the file, 40 hexadecimal digits
     * @param fileOffset bytes from its start
     */
    public record InFile(String buildId, long fileOffset) implements Frame {}

    private final BpfMap map;
    private final boolean buildIds;

    private StackTraceMap(BpfMap map) {
        this.map = map;
        this.buildIds = (map.flags() & STACK_BUILD_ID) != 0;
    }

    /**
     * A view of the map.
     *
     * @throws IllegalArgumentException if it is not a stack trace map
     */
    public static StackTraceMap of(BpfMap map) {
        if (map.typeNumber() != MapType.STACK_TRACE.number()) {
            throw new IllegalArgumentException("map \"" + map.name() + "\" is not a stack trace map");
        }
        return new StackTraceMap(map);
    }

    /** The frames of a trace, the innermost first; empty if no trace has that id. */
    public Optional<List<Frame>> get(int id) {
        return map.lookup(TypedMap.encode(Codec.ofInt(), id)).map(bytes -> frames(MemorySegment.ofArray(bytes)));
    }

    /**
     * Removes a trace, which makes room for another with the same id.
     *
     * @return whether it existed
     */
    public boolean remove(int id) {
        return map.delete(TypedMap.encode(Codec.ofInt(), id));
    }

    /** The ids of all traces in the map; concurrent changes are as for {@link BpfMap#keys}. */
    public List<Integer> ids() {
        List<Integer> ids = new ArrayList<>();
        map.keys().forEach(key -> ids.add(TypedMap.decode(Codec.ofInt(), key)));
        return ids;
    }

    private List<Frame> frames(MemorySegment value) {
        List<Frame> frames = new ArrayList<>();
        if (!buildIds) {
            for (long at = 0; at + Long.BYTES <= value.byteSize(); at += Long.BYTES) {
                long address = value.get(ValueLayout.JAVA_LONG_UNALIGNED, at);
                if (address == 0) {
                    break;
                }
                frames.add(new Address(address));
            }
            return List.copyOf(frames);
        }
        for (long at = 0; at + BUILD_ID_FRAME <= value.byteSize(); at += BUILD_ID_FRAME) {
            int status = value.get(ValueLayout.JAVA_INT_UNALIGNED, at);
            long place = value.get(ValueLayout.JAVA_LONG_UNALIGNED, at + OFFSET);
            if (status == VALID) {
                byte[] id = value.asSlice(at + BUILD_ID, BUILD_ID_SIZE).toArray(ValueLayout.JAVA_BYTE);
                frames.add(new InFile(HexFormat.of().formatHex(id), place));
            } else if (status == IP) {
                frames.add(new Address(place));
            } else {
                break;
            }
        }
        return List.copyOf(frames);
    }
}
