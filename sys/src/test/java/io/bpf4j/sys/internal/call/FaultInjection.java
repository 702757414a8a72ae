package io.bpf4j.sys.internal.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.bpf4j.elf.Bpf4jException;
import io.bpf4j.sys.kernel.Errno;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Repeats a journey, from the first call to the last close, and lets its calls fail in turn, each with each error that
 * its manual lists ({@link ManualErrors}). After each run nothing is left, and:
 *
 * <ul>
 *   <li>either the journey has failed with an exception of bpf4j, whose message names the error, what it is about, and
 *       more than a call and a number;
 *   <li>or the test has said that this fault is tolerated, and why; then the journey has seen what it sees without a
 *       fault, but for what the tolerance says.
 * </ul>
 *
 * <pre>{@code
 * new FaultInjection("a ring", kernel -> { ... return "1 record"; })
 *         .naming("events")
 *         .tolerating("nobody is woken", FileCommand.Write.class::isInstance)
 *         .run();
 * }</pre>
 *
 * <p>A journey must make the same calls each time.
 */
public final class FaultInjection {
    /** What a program does with the library. */
    @FunctionalInterface
    public interface Journey {
        /**
         * Goes from the first call to the last close.
         *
         * @return what it saw
         */
        String on(ScriptedKernel kernel);
    }

    /**
     * How many runs there were.
     *
     * @param calls of a journey without a fault
     * @param errors runs with one error of one call
     * @param tolerated those of them that the journey survived
     * @param seconds runs with a second error while the first was undone
     * @param javaErrors runs with an error of Java
     * @param fewDescriptors runs with a limit of descriptors
     */
    public record Figures(int calls, int errors, int tolerated, int seconds, int javaErrors, int fewDescriptors) {
        /** Of no journey. */
        public static final Figures NONE = new Figures(0, 0, 0, 0, 0, 0);

        /** Of these and other journeys. */
        public Figures and(Figures other) {
            return new Figures(
                    calls + other.calls,
                    errors + other.errors,
                    tolerated + other.tolerated,
                    seconds + other.seconds,
                    javaErrors + other.javaErrors,
                    fewDescriptors + other.fewDescriptors);
        }
    }

    /** @param sees what the journey sees then; null for what it sees without a fault */
    private record Tolerance(
            String why,
            Predicate<Command<?>> calls,
            Set<Errno> errors,
            @Nullable String sees) {
        boolean covers(Command<?> call, Errno errno) {
            return isAbout(call) && errors.contains(errno);
        }

        boolean isAbout(Command<?> call) {
            return calls.test(call instanceof TokenCommand.With<?> with ? with.command() : call);
        }
    }

    /** The end of a run. */
    private record End(@Nullable String seen, @Nullable Throwable thrown) {}

    /** A name in quotes, a path, or what follows "of", "for", "on", "to" or "in". */
    private static final Pattern QUOTED = Pattern.compile("\"([^\"]+)\"");

    private static final int MANY_DESCRIPTORS = 1000;

    /** Nobody understands these by the call and the number alone. */
    private static final Set<Errno> NEVER_BARE = EnumSet.of(Errno.EMFILE, Errno.ENFILE, Errno.ENOMEM);

    private final String name;
    private final Journey journey;
    private final List<String> names = new ArrayList<>();
    private final List<Tolerance> tolerances = new ArrayList<>();
    private final Set<Tolerance> used = new HashSet<>();
    private final Map<String, Integer> untold = new TreeMap<>();

    /** What the runs have shown: all of them, because one fault seldom comes alone. */
    private final List<AssertionError> problems = new ArrayList<>();

    private List<Command<?>> calls = List.of();
    private String sight = "";
    private boolean leavesPins;

    public FaultInjection(String name, Journey journey) {
        this.name = name;
        this.journey = journey;
    }

    /** A message about a failure contains one of these words, or a name that the failed call has in quotes. */
    public FaultInjection naming(String... words) {
        names.addAll(List.of(words));
        return this;
    }

    /** A call that may fail with any error, or with some, and the journey is the same. */
    public FaultInjection tolerating(String why, Predicate<Command<?>> failing, Errno... errors) {
        tolerances.add(new Tolerance(why, failing, errors(errors), null));
        return this;
    }

    /** A call that may fail with any error, or with some, and the journey sees something else. */
    public FaultInjection seeing(String sees, String why, Predicate<Command<?>> failing, Errno... errors) {
        tolerances.add(new Tolerance(why, failing, errors(errors), sees));
        return this;
    }

    /** A failure may leave pins, which the journey has made to stay and then can't remove. */
    public FaultInjection leavingPins() {
        leavesPins = true;
        return this;
    }

    private static Set<Errno> errors(Errno... errors) {
        return errors.length == 0 ? EnumSet.allOf(Errno.class) : EnumSet.copyOf(Arrays.asList(errors));
    }

    /** All faults: each error of each call, a second one while the first is undone, errors of Java, too few descriptors. */
    public Figures run() {
        ScriptedKernel plain = new ScriptedKernel();
        sight = journey.on(plain);
        assertNothingLeft(plain, name + " without a fault", false);
        calls = plain.commands();
        Figures figures = eachError().and(eachSecond()).and(javaErrors()).and(fewDescriptors());
        if (!problems.isEmpty()) {
            AssertionError first = problems.removeFirst();
            problems.forEach(first::addSuppressed);
            throw first;
        }
        List<String> idle = tolerances.stream()
                .filter(tolerance -> !used.contains(tolerance) && calls.stream().anyMatch(tolerance::isAbout))
                .map(Tolerance::why)
                .toList();
        assertThat(idle).as(name + ": tolerances that no fault needs").isEmpty();
        assertThat(untold)
                .as(name + ": faults that are neither reported nor tolerated")
                .isEmpty();
        return figures;
    }

    private Figures eachError() {
        int runs = 0;
        int survived = 0;
        for (int n = 1; n <= calls.size(); n++) {
            Command<?> call = calls.get(n - 1);
            for (Errno errno : ManualErrors.of(call)) {
                ScriptedKernel kernel = new ScriptedKernel();
                int number = n;
                kernel.failCalls((at, _) -> at == number, errno);
                End end = go(kernel);
                String what = what(n, errno);
                runs++;
                Throwable thrown = end.thrown;
                if (thrown == null) {
                    survived++;
                    check(() -> assertTolerated(end, call, errno, what));
                } else {
                    check(() -> assertTold(thrown, call, errno, what));
                }
                assertNothingLeft(
                        kernel, what, end.thrown != null && (leavesPins || call instanceof FileCommand.Unlink));
            }
        }
        return new Figures(calls.size(), runs, survived, 0, 0, 0);
    }

    /**
     * A call fails, and then, while that is undone or made up for, another one. The first failure is the one that is
     * reported, and the second is with it; all but what the second was to undo is undone.
     */
    private Figures eachSecond() {
        int runs = 0;
        for (int n = 1; n <= calls.size(); n++) {
            Command<?> call = calls.get(n - 1);
            Errno errno = usual(call);
            if (errno == null) {
                continue;
            }
            for (int more = 1; ; more++) {
                ScriptedKernel kernel = new ScriptedKernel();
                int first = n;
                int second = n + more;
                kernel.failCalls((at, _) -> at == first, errno);
                kernel.failCalls(
                        (at, other) -> at == second && !ManualErrors.of(other).isEmpty(), Errno.EIO);
                End end = go(kernel);
                if (kernel.commands().size() < second) {
                    break;
                }
                Command<?> other = kernel.commands().get(second - 1);
                if (ManualErrors.of(other).isEmpty()) {
                    continue;
                }
                runs++;
                String what = what(n, errno) + ", then " + other.call() + " with EIO";
                assertNothingLeft(
                        kernel, what, leavesPins || Stream.of(call, other).anyMatch(FaultInjection::isOfPin));
                Throwable thrown = end.thrown;
                if (thrown != null) {
                    check(() -> assertThat(thrown).as(what).isInstanceOf(Bpf4jException.class));
                    boolean firstIsTold = mentions(thrown, errno);
                    boolean secondIsTold = mentions(thrown, Errno.EIO);
                    check(() -> assertThat(firstIsTold || isTolerated(call, errno))
                            .as(what + ": the first failure is in " + all(thrown))
                            .isTrue());
                    if (!secondIsTold && !isTolerated(other, Errno.EIO)) {
                        untold.merge("while undoing: " + other.call(), 1, Integer::sum);
                    }
                }
            }
        }
        return new Figures(0, 0, 0, runs, 0, 0);
    }

    /** An error that the journey does not survive, if there is one. */
    private @Nullable Errno usual(Command<?> call) {
        return ManualErrors.of(call).stream()
                .filter(errno -> !isTolerated(call, errno))
                .findFirst()
                .orElse(null);
    }

    /** What Java has no memory or no stack for is undone, too, and the error is passed on as it is. */
    private Figures javaErrors() {
        int runs = 0;
        List<Supplier<Error>> kinds =
                List.of(() -> new OutOfMemoryError("injected"), () -> new StackOverflowError("injected"));
        for (int n = 1; n <= calls.size(); n++) {
            for (Supplier<Error> kind : kinds) {
                ScriptedKernel kernel = new ScriptedKernel();
                Error error = kind.get();
                kernel.throwAt(n, error);
                End end = go(kernel);
                String what = name + ": call " + n + " (" + calls.get(n - 1).call() + ") throws " + error;
                runs++;
                check(() -> assertThat(end.thrown).as(what).isSameAs(error));
                assertNothingLeft(kernel, what, leavesPins || calls.get(n - 1) instanceof FileCommand.Unlink);
            }
        }
        return new Figures(0, 0, 0, 0, runs, 0);
    }

    /** As many descriptors as the journey needs at most, and each smaller number: also what is undone must do with them. */
    private Figures fewDescriptors() {
        int runs = 0;
        for (int most = 0; most < MANY_DESCRIPTORS; most++) {
            ScriptedKernel kernel = new ScriptedKernel();
            kernel.limitDescriptors(most);
            End end = go(kernel);
            String what = name + " with " + most + " descriptors";
            runs++;
            assertNothingLeft(kernel, what, leavesPins && end.thrown != null);
            if (end.thrown == null) {
                if (sight.equals(end.seen)) {
                    return new Figures(0, 0, 0, 0, 0, runs);
                }
                continue;
            }
            Throwable thrown = end.thrown;
            check(() -> assertThat(thrown).as(what).isInstanceOf(Bpf4jException.class));
            check(() -> assertThat(mentions(thrown, Errno.EMFILE))
                    .as(what + ": " + all(thrown))
                    .isTrue());
        }
        throw new AssertionError(name + " fails even with " + MANY_DESCRIPTORS + " descriptors");
    }

    private End go(ScriptedKernel kernel) {
        try {
            return new End(journey.on(kernel), null);
        } catch (RuntimeException | Error e) {
            return new End(null, e);
        }
    }

    private String what(int n, Errno errno) {
        return name + ": call " + n + " of " + calls.size() + " ("
                + calls.get(n - 1).call() + ") fails with " + errno;
    }

    private void check(Runnable assertion) {
        try {
            assertion.run();
        } catch (AssertionError e) {
            problems.add(e);
        }
    }

    private void assertNothingLeft(ScriptedKernel kernel, String what, boolean butPins) {
        check(() -> assertThat(kernel.open()).as(what).isEmpty());
        check(() -> assertThat(kernel.mappings()).as(what).isZero());
        check(() -> assertThat(butPins ? List.of() : kernel.pinned()).as(what).isEmpty());
    }

    /** Whether a pin is found or removed by this call. */
    private static boolean isOfPin(Command<?> call) {
        return call instanceof FileCommand.Unlink || call instanceof ObjectCommand<?>;
    }

    private boolean isTolerated(Command<?> call, Errno errno) {
        return tolerances.stream().anyMatch(tolerance -> tolerance.covers(call, errno));
    }

    private void assertTolerated(End end, Command<?> call, Errno errno, String what) {
        List<Tolerance> covering = tolerances.stream()
                .filter(tolerance -> tolerance.covers(call, errno))
                .toList();
        if (covering.isEmpty()) {
            untold.merge(call.getClass().getSimpleName() + " " + call.call() + " " + errno, 1, Integer::sum);
            return;
        }
        used.addAll(covering);
        Set<String> seen = covering.stream()
                .map(tolerance -> tolerance.sees == null ? sight : tolerance.sees)
                .collect(Collectors.toSet());
        assertThat(seen).as(what).contains(end.seen);
    }

    private void assertTold(Throwable thrown, Command<?> call, Errno errno, String what) {
        if (!(thrown instanceof Bpf4jException)) {
            fail(what + ", which comes out as " + thrown, thrown);
        }
        String message = String.valueOf(thrown.getMessage());
        assertThat(mentions(thrown, errno))
                .as(what + ": the error is in " + all(thrown))
                .isTrue();
        assertThat(names(call).anyMatch(message::contains))
                .as(what + ": \"" + message + "\" names what it is about")
                .isTrue();
        if (NEVER_BARE.contains(errno)) {
            assertThat(message).as(what).doesNotEndWith(Errno.describe(errno.number()));
        }
        assertThat(message).as(what).doesNotContain("null", "@");
    }

    /** The words by which a person knows what a call was about. */
    private Stream<String> names(Command<?> call) {
        Matcher quoted = QUOTED.matcher(call.call());
        // To a person a map of global data is its section; the kernel's name starts with the object's.
        Stream<String> inQuotes = quoted.results().map(found -> {
            String text = found.group(1);
            return text.contains(".") ? text.substring(text.indexOf('.')) : text;
        });
        return Stream.concat(names.stream(), inQuotes.toList().stream());
    }

    private static boolean mentions(Throwable thrown, Errno errno) {
        return all(thrown).contains(errno.name());
    }

    /** The messages of an exception, of its causes, and of what was suppressed. */
    private static String all(Throwable thrown) {
        StringBuilder text = new StringBuilder(String.valueOf(thrown));
        if (thrown.getCause() != null) {
            text.append(" <- ").append(all(thrown.getCause()));
        }
        for (Throwable suppressed : thrown.getSuppressed()) {
            text.append(" (").append(all(suppressed)).append(')');
        }
        return text.toString();
    }
}
