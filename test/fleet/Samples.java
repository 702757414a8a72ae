import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** What the agent took at times of the same distance: what the script saw, and what the agent says of itself. */
class Samples {
    private final List<Sample> all;

    /**
     * One of them.
     *
     * @param pushes that were taken so far, by the agent's own metric, and those that failed
     * @param time of the BPF programs of each question so far, in seconds, and how often they ran
     */
    record Sample(
            Recorded.Process process,
            double heap,
            double cpu,
            double pushes,
            double failed,
            Map<String, Double> time,
            Map<String, Double> runs) {}

    private Samples(List<Sample> all) {
        this.all = all;
    }

    static Samples of(List<Recorded.Process> process, Map<String, List<Recorded.Point>> answers) {
        return new Samples(process.stream()
                .map(each -> new Sample(
                        each,
                        at(answers, "heap", each.millis()),
                        at(answers, "cpu", each.millis()),
                        at(answers, "pushes", each.millis()),
                        at(answers, "failed", each.millis()),
                        byQuestion(answers, "time.", each.millis()),
                        byQuestion(answers, "runs.", each.millis())))
                .toList());
    }

    private static Map<String, Double> byQuestion(
            Map<String, List<Recorded.Point>> answers, String prefix, long millis) {
        return Recorded.QUESTIONS.stream()
                .collect(Collectors.toMap(question -> question, question -> at(answers, prefix + question, millis)));
    }

    private static double at(Map<String, List<Recorded.Point>> answers, String name, long millis) {
        return at(answers.getOrDefault(name, List.of()), millis / 1e3);
    }

    /** The value at a time or before; 0 before the first. */
    static double at(List<Recorded.Point> points, double time) {
        double value = 0;
        for (Recorded.Point point : points) {
            if (point.time() > time) {
                break;
            }
            value = point.value();
        }
        return value;
    }

    /** Those from a time to another, in milliseconds since 1970. */
    Samples between(double from, double to) {
        return new Samples(all.stream()
                .filter(sample ->
                        sample.process().millis() >= from && sample.process().millis() <= to)
                .toList());
    }

    double mean(ToDoubleFunction<Sample> figure) {
        return all.stream().mapToDouble(figure).average().orElse(Double.NaN);
    }

    double most(ToDoubleFunction<Sample> figure) {
        return all.stream().mapToDouble(figure).max().orElse(Double.NaN);
    }

    /** The nanoseconds that an event took in the BPF program of a question, from each sample to the next: the median. */
    double medianNanosPerRun(String question) {
        List<Double> nanos = new ArrayList<>();
        for (int i = 1; i < all.size(); i++) {
            Sample before = all.get(i - 1);
            Sample after = all.get(i);
            double runs = after.runs().get(question) - before.runs().get(question);
            if (runs > 0) {
                nanos.add((after.time().get(question) - before.time().get(question)) / runs * 1e9);
            }
        }
        return Recorded.quantile(
                nanos.stream().mapToDouble(Double::doubleValue).sorted().toArray(), 0.5);
    }

    /** A table with tabs; the times are seconds since one in milliseconds since 1970. */
    void write(Path file, long start) throws IOException {
        StringBuilder text = new StringBuilder("seconds\tresident_bytes\theap_bytes\tthreads\tdescriptors\tmaps_bytes"
                + "\tprograms_bytes\tcpu_seconds\tpushes\tfailed_pushes");
        Recorded.QUESTIONS.forEach(question -> text.append("\t" + question + "_runs\t" + question + "_run_seconds"));
        text.append('\n');
        for (Sample sample : all) {
            Recorded.Process process = sample.process();
            text.append(String.format(
                    Locale.ROOT,
                    "%.1f\t%d\t%.0f\t%d\t%d\t%d\t%d\t%.2f\t%.0f\t%.0f",
                    (process.millis() - start) / 1e3,
                    process.resident(),
                    sample.heap(),
                    process.threads(),
                    process.descriptors(),
                    process.maps(),
                    process.programs(),
                    sample.cpu(),
                    sample.pushes(),
                    sample.failed()));
            for (String question : Recorded.QUESTIONS) {
                text.append(String.format(
                        Locale.ROOT,
                        "\t%.0f\t%.9f",
                        sample.runs().get(question),
                        sample.time().get(question)));
            }
            text.append('\n');
        }
        Files.writeString(file, text);
    }
}
