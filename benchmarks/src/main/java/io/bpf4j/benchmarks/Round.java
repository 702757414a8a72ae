package io.bpf4j.benchmarks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.BenchmarkListEntry;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Measures the benchmarks that were chosen, one kind of work after the other: first the C harness, directly after it
 * bpf4j, so that other load on the machine affects both alike. <i>Confined.</i>
 */
final class Round {
    /**
     * Work that the C harness does too.
     *
     * @param section what the harness calls it
     * @param classes benchmarks of JMH, or programs that take a number of shots and print lines for {@link Yardstick}
     */
    private record Part(String section, List<Class<?>> classes) {}

    private static final List<Part> PARTS = List.of(
            new Part("attach", List.of(AttachBenchmark.class)),
            new Part("many", List.of(ManyProbesBenchmark.class)),
            new Part("load", List.of(LoadBenchmark.class)),
            new Part("maps", List.of(MapBenchmark.class)),
            new Part("records", List.of(RecordsMain.class)),
            new Part("variants", List.of(VariantsBenchmark.class)),
            new Part("singles", List.of(SinglesMain.class)),
            new Part("concurrent", List.of(ConcurrentBenchmark.class)),
            new Part("memory", List.of(MemoryMain.class)));

    /**
     * What measures bpf4j in a JVM of its own.
     *
     * @param rows the names of what it measures, as in the tables; a program that prints another one is refused
     */
    private record Program(Class<?> main, Set<String> rows) {
        /** The names by which a pattern finds it. */
        Stream<String> names() {
            return Stream.concat(Stream.of("main"), rows.stream()).map(row -> main.getName() + '.' + row);
        }
    }

    private static final List<Program> PROGRAMS = List.of(
            new Program(RecordsMain.class, Set.of("recordAtFullRate", "lostAtFullRate", "idleCpu", "recordLatency")),
            new Program(
                    SinglesMain.class, Set.of("attachByCookie", "detachByCookie", "attachByIpMap", "detachByIpMap")),
            new Program(LibrariesMain.class, Set.of("listLibraries")),
            new Program(
                    TypesMain.class,
                    Set.of(
                            "openRelocations",
                            "dryRunRelocations",
                            "dryRunTypes",
                            "inspectFunctions",
                            "readModuleOfOneName")),
            new Program(MemoryMain.class, Set.of("residentMemory", "heapAfterCollection")),
            new Program(
                    FirstUseMain.class, Set.of("firstLoad", "firstAttach", "firstLoadCached", "firstAttachCached")));

    private final RunLength length;
    private final @Nullable Path harness;
    private final Comparison comparison;

    /** JMH's methods by the full names of their classes; of a program its {@code main}. */
    private final Map<String, List<String>> chosen;

    /**
     * @param harness the C harness, which takes a section and a number of shots; null to measure bpf4j alone
     * @param patterns regular expressions; a benchmark is measured if one is found in its name, or if there are none. A
     *     program is measured as a whole if one is found in the name of one of its rows
     */
    Round(RunLength length, @Nullable Path harness, List<Pattern> patterns, Comparison comparison) {
        this.length = length;
        this.harness = harness;
        this.comparison = comparison;
        Stream<String> programs = PROGRAMS.stream()
                .filter(program -> program.names().anyMatch(name -> isChosen(name, patterns)))
                .map(program -> program.main.getName() + ".main");
        this.chosen = Stream.concat(methods().filter(name -> isChosen(name, patterns)), programs)
                .collect(Collectors.groupingBy(
                        name -> name.substring(0, name.lastIndexOf('.')), TreeMap::new, Collectors.toList()));
    }

    private static boolean isChosen(String name, List<Pattern> patterns) {
        return patterns.isEmpty()
                || patterns.stream().anyMatch(pattern -> pattern.matcher(name).find());
    }

    /** JMH's methods by their full names. */
    private static Stream<String> methods() {
        return BenchmarkList.defaultList()
                .find(
                        OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT),
                        List.of(".*"),
                        List.of())
                .stream()
                .map(BenchmarkListEntry::getUsername)
                .distinct();
    }

    /** What patterns are compared with, without the package. */
    static SortedSet<String> names() {
        int prefix = Round.class.getPackageName().length() + 1;
        return Stream.concat(methods(), PROGRAMS.stream().flatMap(Program::names))
                .map(name -> name.substring(prefix))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    boolean isEmpty() {
        return chosen.isEmpty();
    }

    void measure() throws RunnerException, IOException, InterruptedException {
        Map<String, List<String>> alone = new TreeMap<>(chosen);
        for (Part part : PARTS) {
            List<String> methods = new ArrayList<>();
            for (Class<?> each : part.classes) {
                List<String> some = alone.remove(each.getName());
                methods.addAll(some == null ? List.of() : some);
            }
            if (!methods.isEmpty()) {
                measureHarness(part.section);
                measureOwn(methods);
            }
        }
        measureOwn(alone.values().stream().flatMap(List::stream).toList());
    }

    private void measureHarness(String section) throws IOException, InterruptedException {
        if (harness != null) {
            new Yardstick(List.of(harness.toString(), section, Integer.toString(length.shots)))
                    .measure(comparison::add);
        }
    }

    private void measureOwn(List<String> methods) throws RunnerException, IOException, InterruptedException {
        List<String> ofJmh = new ArrayList<>(methods);
        for (Program program : PROGRAMS) {
            if (ofJmh.remove(program.main.getName() + ".main")) {
                List<String> command = new ArrayList<>();
                command.add(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString());
                command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
                command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.main.getName()));
                command.add(Integer.toString(length.shots));
                System.out.println("# " + program.main.getSimpleName());
                new Yardstick(command).measure((way, work, size, unit, figures) -> {
                    if (!program.rows.contains(work)) {
                        throw new IllegalStateException(
                                program.main + " measures " + work + ", which is none of its rows " + program.rows);
                    }
                    comparison.add(way, work, size, unit, figures);
                });
            }
        }
        if (!ofJmh.isEmpty()) {
            measureJmh(steady(), ofJmh);
        }
    }

    private void measureJmh(ChainedOptionsBuilder options, List<String> methods) throws RunnerException {
        methods.forEach(method -> options.include("^" + Pattern.quote(method) + "$"));
        new Runner(options.build()).run().forEach(comparison::add);
    }

    private ChainedOptionsBuilder steady() {
        return switch (length) {
            // All in this JVM: one for each would take most of the time.
            case SMOKE ->
                options()
                        .forks(0)
                        .warmupIterations(0)
                        .measurementIterations(1)
                        .measurementTime(TimeValue.milliseconds(10));
            // Of what is timed shot by shot, fewer shots; of what runs for a time, less time.
            case QUICK ->
                options()
                        .forks(1)
                        .warmupIterations(40)
                        .measurementIterations(length.shots)
                        .warmupTime(TimeValue.milliseconds(200))
                        .measurementTime(TimeValue.milliseconds(300))
                        .jvmArgsAppend("-D" + WarmUp.PROPERTY + "=3000");
            case FULL -> options().jvmArgsAppend("-D" + WarmUp.PROPERTY + "=8000");
        };
    }

    private static ChainedOptionsBuilder options() {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .shouldFailOnError(true)
                .verbosity(VerboseMode.NORMAL)
                .addProfiler(GCProfiler.class);
        if (Targets.postgres().isEmpty()) {
            options.param("program", "libjvm.so");
        }
        return options;
    }
}
