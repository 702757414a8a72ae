package io.bpf4j.test.objects;

import io.bpf4j.objects.BpfObjects;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/**
 * All BPF object files of this repository, once for each byte order: those of {@code test/objects/src/main/bpf}, which
 * only tests and benchmarks use, and the tracer, which is shipped. {@code bpf-objects/build.sh} compiles them.
 * <em>Thread-safe.</em>
 */
public final class TestObjects {
    private static final String TRACER = "trace.bpf.o";
    private static final String QUESTION = "question.bpf.o";

    private TestObjects() {}

    /** File names of all objects but those of {@link #corpus()}, in alphabetical order. */
    public static List<String> names() {
        return Stream.concat(lines("names"), Stream.of(TRACER, QUESTION))
                .sorted()
                .toList();
    }

    /**
     * Names of the corpus, {@code corpus/arrays.bpf.o} and so on, in alphabetical order: small programs that check
     * themselves, for every kind of map, program, relocation and extern. Not every kernel has what they need.
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
     * @param name as in {@link #names} or {@link #corpus}, for instance {@code maps.bpf.o}
     * @throws IllegalArgumentException if there is no such object
     */
    public static byte[] bytes(String name) {
        return bytes(name, ByteOrder.nativeOrder());
    }

    /**
     * The bytes of an object for machines of a byte order, for instance to try it against the types of another
     * machine's kernel; the caller owns the array.
     *
     * @param name as in {@link #names} or {@link #corpus}
     * @throws IllegalArgumentException if there is no such object
     */
    public static byte[] bytes(String name, ByteOrder order) {
        if (name.equals(TRACER)) {
            return BpfObjects.tracer(order);
        }
        if (name.equals(QUESTION)) {
            return BpfObjects.question(order);
        }
        List<String> names = names();
        if (!names.contains(name) && !corpus().contains(name)) {
            throw new IllegalArgumentException(
                    "no BPF object named " + name + "; there are " + String.join(", ", names));
        }
        return resource(order == ByteOrder.BIG_ENDIAN ? "big/" + name : name);
    }

    private static byte[] resource(String name) {
        try (InputStream in = TestObjects.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("resource " + name + " is missing beside " + TestObjects.class);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException("reading resource " + name, e);
        }
    }
}
