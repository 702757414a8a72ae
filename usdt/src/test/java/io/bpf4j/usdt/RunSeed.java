package io.bpf4j.usdt;

import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.RandomGenerator;

/**
 * The seed of everything in a run of tests that is chosen at random. It is the same in every run, so that nobody's
 * build fails by chance, unless {@code -Dbpf4j.test.seed} gives another.
 */
public final class RunSeed {
    static final long VALUE = Long.getLong("bpf4j.test.seed", 20261122);

    /**
     * The seed of all properties. jqwik takes one from the annotation only, where it is a constant; {@link #mixedInto}
     * adds that of the run.
     */
    public static final String OF_PROPERTIES = "20261122";

    private RunSeed() {}

    public static Random random() {
        return new Random(VALUE);
    }

    /** The same values, drawn by the seed of the run; shrinking is left as it is. */
    public static <T> Arbitrary<T> mixedInto(Arbitrary<T> arbitrary) {
        RandomGenerator<T> generator = arbitrary.generator(1000, true);
        return Arbitraries.fromGenerator(random -> generator.next(new Random(random.nextLong() ^ VALUE)));
    }
}
