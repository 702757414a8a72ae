package io.bpf4j.test.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A parser and what must hold of it, whatever its input: it returns or throws what it documents, and takes no more
 * memory and steps than the size of the input explains. A subclass is a test class that says how to read an input and
 * which inputs are sound. Its tests replay these inputs and the {@link Findings}, read a thousand changed ones, the
 * same in each run unless {@code -Dbpf4j.test.seed} gives another seed, and compare the work for inputs of growing
 * size. {@link Fuzzer} goes on for as long as it is told, guided by the code that an input reaches. <i>Confined.</i>
 */
public abstract class FuzzTarget {
    private static final long SEED = Long.getLong("bpf4j.test.seed", 20261128);

    /**
     * The smallest number of parts by which growth is measured. Tables that double are equally full at all sizes. Types
     * with fewer members than this are decoded each time they are needed, and those with more once.
     */
    private static final int PARTS = 128;

    /** Twice as much work is twice as much; a square is four times. Sorting and the doubling of tables need some more. */
    private static final double MOST_GROWTH = 2.6;

    /** Shared with the targets that are instrumented, since this class is not. */
    @TempDir
    private static Path folder = Path.of("/nonexistent");

    /**
     * A way in which an input grows.
     *
     * @param name what there is more and more of, for messages
     * @param input the input with so many parts
     */
    public record Growth(String name, IntFunction<byte[]> input) {}

    /** For subclasses, which are test classes. */
    protected FuzzTarget() {}

    /** Sound inputs, small ones. */
    protected abstract List<byte[]> seeds();

    /**
     * Reads an input. What it throws is a finding, also a failed assertion; so it catches what the parser documents.
     *
     * @param input the callee's own, with no byte to spare
     */
    protected abstract void read(byte[] input) throws Exception;

    /** Inputs of growing size, each with one thing that a parser could look up among all before it. */
    protected List<Growth> growths() {
        return List.of();
    }

    /** What inputs consist of, beyond the constants of the code. */
    protected List<String> words() {
        return List.of();
    }

    /** What inputs are made, and what each may take. */
    protected Limits limits() {
        return Limits.USUAL;
    }

    /** A file for parsers that read files, in a folder that is removed when all is done. */
    protected static Path file(String name) {
        return folder.resolve(name);
    }

    /** Sets the folder of {@link #file} where JUnit does not. */
    static void setFolder(Path empty) {
        folder = empty;
    }

    /** The longest input that is made of the seeds: they have room to grow. */
    final int longest() {
        int most = limits().maxLength();
        for (byte[] seed : seeds()) {
            most = Math.max(most, seed.length + seed.length / 4);
        }
        return most;
    }

    /** The bytes of an ASCII or UTF-8 text. */
    protected static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** An input of several parts: each but the last after its length in two bytes. */
    protected static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i < parts.length; i++) {
            if (i < parts.length - 1) {
                if (parts[i].length > 0xffff) {
                    throw new IllegalArgumentException("part " + i + " has " + parts[i].length + " bytes");
                }
                all.write(parts[i].length);
                all.write(parts[i].length >> 8);
            }
            all.writeBytes(parts[i]);
        }
        return all.toByteArray();
    }

    /** The parts of any input, in the form of {@link #joined}; those that it lacks are empty. */
    protected static byte[][] parts(byte[] input, int count) {
        byte[][] parts = new byte[count][];
        int at = 0;
        for (int i = 0; i < count; i++) {
            int left = input.length - at;
            int length = left;
            if (i < count - 1) {
                length = left < 2 ? 0 : Math.min(left - 2, (input[at] & 0xff) + ((input[at + 1] & 0xff) << 8));
                at += Math.min(left, 2);
            }
            parts[i] = Arrays.copyOfRange(input, at, at + length);
            at += length;
        }
        return parts;
    }

    @Test
    public final void seedsAndFindingsAreRead() throws Exception {
        assertThat(seeds()).isNotEmpty();
        for (byte[] seed : seeds()) {
            check(seed, "a seed");
        }
        for (byte[] finding : Findings.of(getClass())) {
            check(finding, "a finding");
        }
    }

    @Test
    public final void changedSeedsAreRead() throws Exception {
        List<byte[]> seeds = seeds();
        Random random = new Random(SEED);
        Mutator mutator = new Mutator(random, longest());
        mutator.addWords(words().stream().map(FuzzTarget::bytes).toList());
        int executions = limits().executions();
        for (int i = 0; i < executions; i++) {
            byte[] seed = seeds.get(random.nextInt(seeds.size()));
            check(mutator.mutate(seed, seeds.get(random.nextInt(seeds.size()))), "a changed seed");
        }
    }

    private void check(byte[] input, String origin) throws Exception {
        try {
            Work.checked(this, input);
        } catch (Exception | Error e) {
            throw new AssertionError(
                    origin + " of " + getClass().getSimpleName() + ", as in its findings: " + Findings.line(input), e);
        }
    }

    /** Counted by instrumented code, so it is the same on each machine. */
    @Test
    public final void workIsLinearInTheSizeOfTheInput() throws Exception {
        if (growths().isEmpty()) {
            return;
        }
        FuzzTarget counted = instrumented(getClass().getName(), new InstrumentingLoader(false));
        for (Growth growth : counted.growths()) {
            byte[][] inputs = new byte[3][];
            Work[] work = new Work[inputs.length];
            for (int i = 0; i < inputs.length; i++) {
                inputs[i] = growth.input().apply(PARTS << i);
                // The first run links and loads code.
                Work.checked(counted, inputs[i]);
                work[i] = Work.checked(counted, inputs[i]);
            }
            String sizes = growth.name() + ", for inputs of " + inputs[0].length + ", " + inputs[1].length + " and "
                    + inputs[2].length + " bytes: " + work[0] + ", " + work[1] + ", " + work[2];
            assertGrowth("steps of " + sizes, work[0].steps(), work[1].steps(), work[2].steps());
            assertGrowth("memory of " + sizes, work[0].bytes(), work[1].bytes(), work[2].bytes());
        }
    }

    private static void assertGrowth(String what, long first, long second, long third) {
        // What does not grow is no part of it, and buffers of a fixed size are taken now and then.
        long slack = Math.max(500, second / 10);
        assertThat((double) (third - second))
                .as(what)
                .isLessThanOrEqualTo(MOST_GROWTH * Math.max(0, second - first) + slack);
    }

    /** The target of a class that the loader loads. */
    static FuzzTarget instrumented(String className, InstrumentingLoader loader) throws ReflectiveOperationException {
        Constructor<?> constructor = loader.loadClass(className).getDeclaredConstructor();
        constructor.setAccessible(true);
        return (FuzzTarget) constructor.newInstance();
    }
}
