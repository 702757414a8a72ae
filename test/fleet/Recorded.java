import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What a run of {@code hour} has recorded in its folder. */
class Recorded {
    /** The questions of the agent that are latencies, and all of them. */
    static final List<String> HISTOGRAMS = List.of("queries", "simple", "gc");

    static final List<String> QUESTIONS = List.of("queries", "simple", "probes", "gc");
    static final List<Double> QUANTILES = List.of(0.5, 0.9, 0.99);

    /** The seconds since 1970, a dot and three digits, of {@code log_line_prefix='%n '}. A message without executing is left out. */
    private static final Pattern DURATION =
            Pattern.compile("(\\d+)\\.(\\d{3}) LOG:  duration: ([0-9.]+) ms  (statement|execute)[^:]*: (.*)");

    private static final Pattern PAUSE =
            Pattern.compile("\\[(\\d+)ms\\]\\[gc *\\] GC\\(\\d+\\) Pause (\\w+).* ([0-9.]+)ms");

    private final Path folder;
    private final Map<String, String> facts = new LinkedHashMap<>();

    /**
     * One thing that PostgreSQL or the JVM has logged itself.
     *
     * @param millis when it had ended, since 1970
     * @param kind {@code statement} or {@code execute}, or the first word of the pause
     * @param text of the query
     */
    record Logged(long millis, double seconds, String kind, String text) {}

    /** A value of Prometheus at a time, in seconds since 1970. */
    record Point(double time, double value) {}

    /** What the script has seen of the agent's process: bytes and numbers. */
    record Process(long millis, long resident, long threads, long descriptors, long maps, long programs) {}

    /** A push that was taken: when, in milliseconds since 1970, the time of its points, and what it says. */
    record Taken(long millis, long time, long queries, long simple, long gc, long pushes, long failed) {}

    /** What the collector has seen. */
    record Pushes(List<Taken> taken, long hung, long refused) {}

    Recorded(Path folder) throws IOException {
        this.folder = folder;
        for (String line : Files.readAllLines(folder.resolve("facts.tsv"))) {
            int tab = line.indexOf('\t');
            facts.put(line.substring(0, tab), line.substring(tab + 1));
        }
    }

    String fact(String name) {
        return Objects.requireNonNull(facts.get(name), () -> "the run has not recorded " + name);
    }

    /** A number, or a time in milliseconds since 1970. */
    long number(String fact) {
        return Long.parseLong(fact(fact));
    }

    /** Seconds between scrapes, and between pushes. */
    long step() {
        return number("step");
    }

    /** When the window of rates ends, in seconds since 1970: the load was the same in all of it. */
    long steadyEnd() {
        return number("loaded") / 1000 - step();
    }

    long steadySeconds() {
        return steadyEnd() - number("load") / 1000 - 3 * step();
    }

    private Stream<String> linesFrom(String file, String offset) throws IOException {
        byte[] bytes = Files.readAllBytes(folder.resolve(file));
        int from = (int) number(offset);
        return new String(bytes, from, bytes.length - from, StandardCharsets.UTF_8).lines();
    }

    /** Executions of simple and of prepared queries since the first scrape. */
    List<Logged> queries() throws IOException {
        return linesFrom("postgres.err", "log.from")
                .map(DURATION::matcher)
                .filter(Matcher::matches)
                .map(m -> new Logged(
                        Long.parseLong(m.group(1) + m.group(2)),
                        Double.parseDouble(m.group(3)) / 1e3,
                        m.group(4),
                        m.group(5)))
                .toList();
    }

    /** Pauses of the JVM since the first scrape. */
    List<Logged> pauses() throws IOException {
        return linesFrom("gc.log", "gc.from")
                .map(PAUSE::matcher)
                .filter(Matcher::matches)
                .map(m -> new Logged(Long.parseLong(m.group(1)), Double.parseDouble(m.group(3)) / 1e3, m.group(2), ""))
                .toList();
    }

    static List<String> texts(List<Logged> queries) {
        return queries.stream().map(Logged::text).distinct().sorted().toList();
    }

    /** What Prometheus has answered, by the name of the query. */
    Map<String, List<Point>> answers() throws IOException {
        Map<String, List<Point>> all = new LinkedHashMap<>();
        for (String line : Files.readAllLines(folder.resolve("answers.tsv"))) {
            String[] words = line.split("\t", -1);
            all.computeIfAbsent(words[0], _ -> new ArrayList<>())
                    .add(new Point(Double.parseDouble(words[1]), Double.parseDouble(words[2])));
        }
        return all;
    }

    List<Process> process() throws IOException {
        List<Process> all = new ArrayList<>();
        for (String line : Files.readAllLines(folder.resolve("process.tsv"))) {
            long[] n = Arrays.stream(line.split("\t", -1))
                    .mapToLong(Long::parseLong)
                    .toArray();
            all.add(new Process(n[0], n[1], n[2], n[3], n[4], n[5]));
        }
        return all;
    }

    Pushes pushes() throws IOException {
        List<Taken> taken = new ArrayList<>();
        long hung = 0;
        long refused = 0;
        for (String line : Files.readAllLines(folder.resolve("collector.out"))) {
            String[] words = line.split("\t", -1);
            switch (words[1]) {
                case "taken" -> {
                    long[] n = Arrays.stream(words)
                            .skip(2)
                            .mapToLong(Long::parseLong)
                            .toArray();
                    taken.add(new Taken(Long.parseLong(words[0]), n[0], n[1], n[2], n[3], n[4], n[5]));
                }
                case "hung" -> hung++;
                case "refused" -> refused++;
                default -> {}
            }
        }
        return new Pushes(taken, hung, refused);
    }

    /** The samples of the last exposition, by name and labels. */
    Map<String, Double> exposition() throws IOException {
        Map<String, Double> samples = new LinkedHashMap<>();
        for (String line : Files.readAllLines(folder.resolve("end.prom"))) {
            int space = line.lastIndexOf(' ');
            if (!line.startsWith("#")) {
                samples.put(line.substring(0, space), Double.parseDouble(line.substring(space + 1)));
            }
        }
        return samples;
    }

    /** Cumulative counts by upper bound in seconds, added up over the other labels; without that of +Inf. */
    static TreeMap<Double, Double> buckets(Map<String, Double> exposition, String name) {
        Pattern bound = Pattern.compile(Pattern.quote(name) + "_seconds_bucket\\{.*\\ble=\"([0-9.eE+-]+)\".*");
        TreeMap<Double, Double> buckets = new TreeMap<>();
        exposition.forEach((series, value) -> {
            Matcher matcher = bound.matcher(series);
            if (matcher.matches()) {
                buckets.merge(Double.parseDouble(matcher.group(1)), value, Double::sum);
            }
        });
        return buckets;
    }

    /** The least value that so many of all do not exceed. */
    static double quantile(double[] sorted, double quantile) {
        return sorted.length == 0 ? Double.NaN : sorted[Math.max(0, (int) Math.ceil(quantile * sorted.length) - 1)];
    }
}
