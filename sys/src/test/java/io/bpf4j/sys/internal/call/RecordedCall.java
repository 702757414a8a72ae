package io.bpf4j.sys.internal.call;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The execution of a command that ends before the kernel, with the struct that the kernel would have been given.
 * Addresses differ from run to run: the n-th allocated becomes 0xA0 + n.
 */
public final class RecordedCall extends Call {

    private final List<Long> allocated = new ArrayList<>();
    private final byte[] information;
    private byte[] struct = new byte[0];
    private byte[] request = new byte[0];

    private static final class Recorded extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private RecordedCall(Command<?> command, byte[] information) {
        super(new LinuxKernel(Path.of("/proc")), command);
        this.information = information;
    }

    /** The struct that a command gives the kernel. */
    public static RecordedCall of(Command<?> command) {
        try (RecordedCall call = new RecordedCall(command, new byte[0])) {
            try {
                command.run(call);
            } catch (Recorded e) {
                return call;
            }
            throw new IllegalStateException(command.call() + " makes no call with a struct");
        }
    }

    /** The result of a command that gets information, which the kernel answers in these bytes. */
    public static <R> R answered(ObjectCommand.InfoOf<R> command, byte[] information) {
        try (RecordedCall call = new RecordedCall(command, information)) {
            return command.run(call);
        }
    }

    /** What the last request of such a command has in the struct for the information. */
    public static String request(ObjectCommand.InfoOf<?> command, byte[] information) {
        try (RecordedCall call = new RecordedCall(command, information)) {
            Object _ = command.run(call);
            return hex(call.request);
        }
    }

    /** What a C compiler writes for the same structs, by name and in hexadecimal: attr-golden.txt, which attr-golden.c prints. */
    public static Map<String, String> golden() {
        Map<String, String> golden = new HashMap<>();
        try (InputStream in = Objects.requireNonNull(RecordedCall.class.getResourceAsStream("attr-golden.txt"))) {
            new String(in.readAllBytes(), UTF_8).lines().forEach(line -> {
                int space = line.indexOf(' ');
                golden.put(line.substring(0, space), line.substring(space + 1));
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return golden;
    }

    /** What a request for a text has in the struct for the information about a link; the text is at 0xA1. */
    public static String request(RawLinkInfo.TextField field) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment request = arena.allocate(RawLinkInfo.SIZE, 8);
            field.request(request, Restricted.view(MemorySegment.ofAddress(0xA1), 64, arena));
            return hex(request.toArray(JAVA_BYTE));
        }
    }

    /** The struct, in hexadecimal. */
    public String struct() {
        return hex(struct);
    }

    public long word(int offset) {
        return MemorySegment.ofArray(struct).get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    }

    /** How many areas of memory the command has made. */
    public int allocated() {
        return allocated.size();
    }

    @Override
    public MemorySegment allocate(long size, long alignment) {
        MemorySegment segment = super.allocate(size, Math.max(8, alignment));
        allocated.add(segment.address());
        return segment;
    }

    /** What an earlier call left behind is not given to the kernel. */
    @Override
    MemorySegment attr(long size) {
        Libc.Scratch.get().attr.fill((byte) 0x5a);
        return super.attr(size);
    }

    @Override
    long syscall(Syscall name, long a, long b, long c, long d, long e, long f) {
        MemorySegment given = name == Syscall.BPF ? view(b, c) : view(a, 112);
        if (name == Syscall.BPF && a == BpfCommand.OBJ_GET_INFO_BY_FD.number() && information.length > 0) {
            MemorySegment info = view(given.get(ValueLayout.JAVA_LONG, 8), given.get(ValueLayout.JAVA_INT, 4));
            request = normal(info);
            MemorySegment.copy(information, 0, info, JAVA_BYTE, 0, (int) Math.min(information.length, info.byteSize()));
            allocated.clear();
            return 0;
        }
        struct = normal(given);
        throw new Recorded();
    }

    @Override
    long bpfResult(BpfCommand command, MemorySegment attr, MemorySegment first, MemorySegment second) {
        struct = normal(attr);
        throw new Recorded();
    }

    private static MemorySegment view(long address, long size) {
        return Restricted.view(MemorySegment.ofAddress(address), size, Arena.global());
    }

    private byte[] normal(MemorySegment struct) {
        MemorySegment copy =
                MemorySegment.ofArray(new byte[(int) struct.byteSize()]).copyFrom(struct);
        for (long offset = 0; offset + 8 <= copy.byteSize(); offset += 8) {
            int index = allocated.indexOf(copy.get(ValueLayout.JAVA_LONG_UNALIGNED, offset));
            if (index >= 0) {
                copy.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, 0xA1L + index);
            }
        }
        return copy.toArray(JAVA_BYTE);
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }
}
