package io.bpf4j.objects;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;

/**
 * The BPF object files that bpf4j ships: 64-bit ELF with BTF, compiled from the C sources under {@code
 * bpf-objects/src/main/bpf} by {@code bpf-objects/build.sh}, once for each byte order. <em>Thread-safe.</em>
 */
public final class BpfObjects {
    private BpfObjects() {}

    /**
     * The tracer in the byte order of this machine; the caller owns the array. Its program {@code trace}, {@code
     * SEC("usdt")}, writes one record per event into the ring buffer {@code events}. Its configuration and the layout
     * of a record are described in {@code trace.h} next to its source.
     */
    public static byte[] tracer() {
        return tracer(ByteOrder.nativeOrder());
    }

    /** {@link #tracer()} for machines of a byte order. */
    public static byte[] tracer(ByteOrder order) {
        return read("trace.bpf.o", order);
    }

    /**
     * The frame of questions in the byte order of this machine; the caller owns the array. Its programs call functions
     * that are replaced before the load; {@code question.h} and {@code question.bpf.c} describe them, the configuration
     * and the maps.
     */
    public static byte[] question() {
        return question(ByteOrder.nativeOrder());
    }

    /** {@link #question()} for machines of a byte order. */
    public static byte[] question(ByteOrder order) {
        return read("question.bpf.o", order);
    }

    private static byte[] read(String object, ByteOrder order) {
        String name = order == ByteOrder.BIG_ENDIAN ? "big/" + object : object;
        try (InputStream in = BpfObjects.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("resource " + name + " is missing from module io.bpf4j.objects");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException("reading resource " + name + " of module io.bpf4j.objects", e);
        }
    }
}
