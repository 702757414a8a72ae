package io.bpf4j.test.fuzz;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Fuzzes one target: changes inputs at random, and keeps those that reach new code, or that take more work for their size
 * than any before. {@code test/fuzz/run} starts it. <i>Confined.</i>
 *
 * <p>The inputs that it keeps are in a folder, in which the next run goes on. A finding is made as small as it can be made
 * by leaving out parts, and printed as a line for the file of {@link Findings}. Of findings with one exception from one
 * place, only the first is printed.
 */
public final class Fuzzer {
    private static final int PROGRESS_SECONDS = 20;

    /** Small inputs take as much as the first byte of a larger one. */
    private static final int SMALL = 256;

    private final FuzzTarget target;
    private final InstrumentingLoader loader;
    private final Path folder;
    private final PrintStream out;
    private final Random random;
    private final Mutator mutator;
    private final List<byte[]> corpus = new ArrayList<>();
    private final Map<String, byte[]> findings = new LinkedHashMap<>();

    private long executions;
    private double mostSteps;
    private double mostBytes;
    private String worstSteps = "";
    private String worstBytes = "";
    private int knownWords;

    private Fuzzer(FuzzTarget target, InstrumentingLoader loader, Path folder, PrintStream out, long seed) {
        this.target = target;
        this.loader = loader;
        this.folder = folder;
        this.out = out;
        this.random = new Random(seed);
        this.mutator = new Mutator(random, target.longest());
    }

    /**
     * Fuzzes a target.
     *
     * @param arguments the name of the class, the seconds, and the folder of inputs
     */
    public static void main(String[] arguments) throws Exception {
        InstrumentingLoader loader = new InstrumentingLoader(true);
        FuzzTarget target = FuzzTarget.instrumented(arguments[0], loader);
        long seed = Long.getLong("bpf4j.test.seed", System.nanoTime());
        Path scratch = Files.createTempDirectory("bpf4j-fuzz");
        FuzzTarget.setFolder(scratch);
        int found;
        try {
            found = new Fuzzer(target, loader, Path.of(arguments[2]), System.out, seed)
                    .run(Long.parseLong(arguments[1]));
        } finally {
            remove(scratch);
        }
        System.exit(found == 0 ? 0 : 1);
    }

    private static void remove(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    /** Fuzzes for so many seconds; returns the number of findings. */
    private int run(long seconds) throws Exception {
        Files.createDirectories(folder);
        List<byte[]> first = new ArrayList<>(target.seeds());
        first.addAll(Findings.of(target.getClass()));
        first.addAll(kept());
        // Twice: the first run also counts what initializes classes.
        first.forEach(this::execute);
        Coverage.forget();
        corpus.clear();
        mostSteps = 0;
        mostBytes = 0;
        for (byte[] seed : first) {
            if (!execute(seed)) {
                corpus.add(seed);
            }
        }
        mutator.addWords(target.words().stream().map(FuzzTarget::bytes).toList());
        learn();
        long start = System.nanoTime();
        long shown = 0;
        while (true) {
            long passed = (System.nanoTime() - start) / 1_000_000_000;
            if (passed >= seconds) {
                break;
            }
            if (passed >= shown + PROGRESS_SECONDS) {
                shown = passed;
                out.println("  " + passed + " s: " + summary());
                learn();
            }
            for (int i = 0; i < 200; i++) {
                byte[] input = mutator.mutate(any(), corpus.get(random.nextInt(corpus.size())));
                if (execute(input)) {
                    keep(input);
                }
            }
        }
        report(seconds);
        return findings.size();
    }

    /** Half of the time one of the newest inputs, which nobody has changed yet. */
    private byte[] any() {
        int size = corpus.size();
        int from = random.nextBoolean() ? size - size / 8 - 1 : 0;
        return corpus.get(random.nextInt(from, size));
    }

    /** Takes the constants of classes that were loaded meanwhile. */
    private void learn() {
        List<String> texts = new ArrayList<>(loader.texts());
        mutator.addWords(texts.subList(knownWords, texts.size()).stream()
                .map(text -> text.getBytes(StandardCharsets.ISO_8859_1))
                .toList());
        if (knownWords == 0) {
            mutator.addNumbers(loader.numbers());
        }
        knownWords = texts.size();
    }

    /** Reads an input; returns whether it was added to the corpus. */
    private boolean execute(byte[] input) {
        executions++;
        Work work;
        try {
            work = Work.checked(target, input);
        } catch (Exception | Error e) {
            found(input, e);
            return false;
        }
        boolean isNew = Coverage.addRun();
        int size = Math.max(SMALL, input.length);
        double steps = (double) work.steps() / size;
        double bytes = (double) work.bytes() / size;
        if (steps > mostSteps * 1.1) {
            isNew = true;
            mostSteps = steps;
            worstSteps = work.steps() + " steps for " + input.length + " bytes";
        }
        if (bytes > mostBytes * 1.1) {
            isNew = true;
            mostBytes = bytes;
            worstBytes = work.bytes() + " bytes of memory for " + input.length + " bytes";
        }
        if (isNew) {
            corpus.add(input);
        }
        return isNew;
    }

    private void found(byte[] input, Throwable problem) {
        String place = place(problem);
        if (findings.containsKey(place)) {
            return;
        }
        findings.put(place, input);
        byte[] small = smallest(input, place);
        findings.put(place, small);
        out.println("FINDING " + place);
        problem.printStackTrace(out);
        out.println("# " + place.replace('\n', ' '));
        out.println(Findings.line(small));
        out.flush();
    }

    /** By what findings differ: the exception and the first line of ours that it comes from. */
    private static String place(Throwable problem) {
        Throwable root = problem;
        StackTraceElement[] trace = root.getStackTrace();
        String at = Arrays.stream(trace)
                .filter(frame -> frame.getClassName().startsWith("io.bpf4j."))
                .filter(frame -> !frame.getClassName().startsWith("io.bpf4j.test.fuzz."))
                .findFirst()
                .map(StackTraceElement::toString)
                .orElse("");
        // Where the steps run out is chance.
        return problem.getClass().getName() + (problem instanceof Coverage.TooManySteps ? "" : " at " + at);
    }

    /** Leaves out parts as long as the same is found. */
    private byte[] smallest(byte[] input, String place) {
        byte[] smallest = input;
        for (int size = Math.max(1, input.length / 2); size > 0; size /= 2) {
            for (int at = 0; at + size <= smallest.length; ) {
                byte[] shorter = new byte[smallest.length - size];
                System.arraycopy(smallest, 0, shorter, 0, at);
                System.arraycopy(smallest, at + size, shorter, at, shorter.length - at);
                if (place.equals(problemOf(shorter))) {
                    smallest = shorter;
                } else {
                    at += size;
                }
            }
        }
        return smallest;
    }

    private @Nullable String problemOf(byte[] input) {
        try {
            Work.checked(target, input);
            return null;
        } catch (Exception | Error e) {
            return place(e);
        }
    }

    private List<byte[]> kept() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted()
                    .map(file -> {
                        try {
                            return Files.readAllBytes(file);
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    })
                    .toList();
        }
    }

    private void keep(byte[] input) throws IOException {
        Files.write(folder.resolve(String.format("%08x-%d", Arrays.hashCode(input), input.length)), input);
    }

    private String summary() {
        return executions + " executions, " + corpus.size() + " inputs, " + reachedBlocks() + " blocks reached of "
                + allBlocks() + ", " + findings.size() + " findings";
    }

    private static int reachedBlocks() {
        return Coverage.reached();
    }

    /** Blocks of the classes that were used. */
    private int allBlocks() {
        return loader.blocks().values().stream()
                .mapToInt(range -> range[1] - range[0])
                .sum();
    }

    private void report(long seconds) {
        out.println(target.getClass().getSimpleName() + ": " + summary() + " in " + seconds + " s; " + worstSteps + "; "
                + worstBytes);
        loader.blocks().forEach((name, range) -> {
            int reached = 0;
            for (int block = range[0]; block < range[1]; block++) {
                reached += Coverage.isReached(block) ? 1 : 0;
            }
            out.println("  " + name + ": " + reached + " of " + (range[1] - range[0]));
        });
        out.flush();
    }
}
