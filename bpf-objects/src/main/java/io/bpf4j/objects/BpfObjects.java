package io.bpf4j.objects;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/**
 * The BPF object files inside this module: 64-bit ELF with BTF, compiled from the C sources under {@code
 * bpf-objects/src/main/bpf} by {@code bpf-objects/build.sh}, once for each byte order. The one for production use is
 * {@link #TRACE}; the others serve tests and benchmarks. <em>Thread-safe.</em>
 */
public final class BpfObjects {
    /**
     * The tracer: program {@code trace}, {@code SEC("usdt")}, which writes one record per event into the ring buffer
     * {@code events}. Its configuration and the layout of a record are described in {@code trace.h} beside its source.
     */
    public static final String TRACE = "trace.bpf.o";

    private BpfObjects() {}

    /** File names of all objects but those of {@link #corpus()}, in alphabetical order. */
    public static List<String> names() {
        return lines("names").toList();
    }

    /**
     * Names of the corpus, {@code corpus/arrays.bpf.o} and so on, in alphabetical order: small programs that check
     * themselves, for every kind of map, program, relocation and extern. A kernel has what some of them need, or not.
     */
    public static List<String> corpus() {
        return lines("corpus/names").map(name -> "corpus/" + name).toList();
    }

    private static Stream<String> lines(String list) {
        return new String(resource(list), StandardCharsets.US_ASCII).lines();
    }

    /**
     * The bytes of an object in the byte order of this machine; the caller owns the array.
     *
     * @param name as in {@link #names} or {@link #corpus}, for instance {@code trace.bpf.o}
     * @throws IllegalArgumentException if there is no such object
     */
    public static byte[] bytes(String name) {
        return bytes(name, ByteOrder.nativeOrder());
    }

    /**
     * The bytes of an object for machines of a byte order, for instance to try it against the types of another machine's
     * kernel; the caller owns the array.
     *
     * @param name as in {@link #names} or {@link #corpus}
     * @throws IllegalArgumentException if there is no such object
     */
    public static byte[] bytes(String name, ByteOrder order) {
        List<String> names = names();
        if (!names.contains(name) && !corpus().contains(name)) {
            throw new IllegalArgumentException(
                    "no BPF object named " + name + "; there are " + String.join(", ", names));
        }
        return resource(order == ByteOrder.BIG_ENDIAN ? "big/" + name : name);
    }

    /** {@link #bytes} as a stream; closing it is not needed. */
    public static InputStream open(String name) {
        return new ByteArrayInputStream(bytes(name));
    }

    private static byte[] resource(String name) {
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
