import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Asks Prometheus what {@link Judge} compares, by its HTTP API, and keeps the answers as {@code answers.tsv}: the name of
 * the query, a time in seconds, a value. Each query has one series at most.
 */
class Asker {
    /** A time and a value in an answer of {@code /api/v1/query} and {@code query_range}. */
    private static final Pattern POINT = Pattern.compile("\\[([0-9.]+),\"([^\"]+)\"\\]");

    private final Recorded run;
    private final Map<String, String> queries = new LinkedHashMap<>();

    private Asker(Recorded run) throws IOException {
        this.run = run;
        addCounts();
        addRatesAndQuantiles();
        addScrapes();
        addCosts();
    }

    /** Takes the folder of the run and the address of Prometheus. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path folder = Path.of(arguments[0]);
        StringBuilder answers = new StringBuilder();
        try (HttpClient client = HttpClient.newHttpClient()) {
            for (Map.Entry<String, String> query : new Asker(new Recorded(folder)).queries.entrySet()) {
                HttpResponse<String> answer = client.send(
                        HttpRequest.newBuilder(URI.create(arguments[1] + query.getValue()))
                                .build(),
                        BodyHandlers.ofString());
                if (answer.statusCode() != 200) {
                    throw new IOException(query + ": " + answer.body());
                }
                Matcher point = POINT.matcher(answer.body());
                while (point.find()) {
                    String value = point.group(2).replace("+Inf", "Infinity");
                    answers.append(query.getKey() + "\t" + point.group(1) + "\t" + value + "\n");
                }
            }
        }
        Files.writeString(folder.resolve("answers.tsv"), answers);
    }

    private void instant(String name, String query, double time) {
        queries.put(name, "/api/v1/query?query=" + encoded(query) + "&time=" + time);
    }

    /** From the beginning of the load to the last scrape. */
    private void range(String name, String query, long every) {
        queries.put(
                name,
                "/api/v1/query_range?query=" + encoded(query) + "&start=" + run.number("load") / 1000 + "&end="
                        + run.number("last") / 1000 + "&step=" + every);
    }

    private static String encoded(String query) {
        return URLEncoder.encode(query, StandardCharsets.UTF_8);
    }

    private double first() {
        return run.number("first") / 1e3;
    }

    private double last() {
        return run.number("last") / 1e3;
    }

    /** Such as {@code [3600s]}: a window that has all scrapes. */
    private String whole() {
        return "[" + (long) (Math.ceil(last() - first()) + 1) + "s]";
    }

    private void addCounts() throws IOException {
        for (String name : Recorded.HISTOGRAMS) {
            count(name, "sum(" + name + "_seconds_count)");
        }
        for (String text : Recorded.texts(run.queries())) {
            String quoted = text.replace("\\", "\\\\").replace("\"", "\\\"");
            count("text." + text, "sum(queries_seconds_count{query=\"" + quoted + "\"})");
        }
        count("full", "sum(gc_seconds_count{full=\"true\"})");
        count("query__start", "sum(probes_total{probe=\"postgresql:query__start\"})");
    }

    /** By the first and the last scrape; increase() would extrapolate. */
    private void count(String name, String query) {
        instant("first." + name, query, first());
        instant("last." + name, query, last());
    }

    private void addRatesAndQuantiles() {
        for (String name : Recorded.HISTOGRAMS) {
            instant(
                    "rate." + name,
                    "sum(rate(" + name + "_seconds_count[" + run.steadySeconds() + "s]))",
                    run.steadyEnd());
            String buckets = "sum by (le) (rate(" + name + "_seconds_bucket" + whole() + "))";
            for (double quantile : Recorded.QUANTILES) {
                instant(
                        "quantile." + name + "." + quantile,
                        "histogram_quantile(" + quantile + ", " + buckets + ")",
                        last());
            }
        }
    }

    private void addScrapes() {
        String window = "{job=\"bpf4j\"}" + whole();
        instant("up", "min_over_time(up" + window + ")", last());
        instant("scrapes", "count_over_time(up" + window + ")", last());
        instant("scrape.max", "max_over_time(scrape_duration_seconds" + window + ")", last());
        instant("scrape.median", "quantile_over_time(0.5, scrape_duration_seconds" + window + ")", last());
        // Each scrape: no push may contradict those before and after it.
        range("each.queries", "sum(queries_seconds_count)", 1);
    }

    private void addCosts() {
        long every = run.number("every");
        range("heap", "jvm_memory_used_bytes{area=\"heap\"}", every);
        range("cpu", "process_cpu_seconds_total", every);
        range("pushes", "bpf4j_otlp_pushes_total", every);
        range("failed", "bpf4j_otlp_failed_pushes_total", every);
        for (String question : Recorded.QUESTIONS) {
            String label = "{question=\"" + question + "\"}";
            range("time." + question, "bpf4j_question_program_run_seconds_total" + label, every);
            range("runs." + question, "bpf4j_question_program_runs_total" + label, every);
        }
    }
}
