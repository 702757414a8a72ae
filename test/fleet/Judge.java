import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Compares what a run of {@code hour} has recorded in a folder, and says of each figure what is allowed. Prints the table,
 * also to {@code table.txt}, writes {@code samples.tsv}, and ends with 1 if a figure is not allowed.
 */
class Judge {
    /** Memory is flat if the mean of the last sixth of the time is at most so much of that of the first. */
    private static final double FLAT = 1.10;

    /** Descriptors and threads that come and go: a reader that is connected, a thread of the JVM. */
    private static final int FEW = 2;

    /** Probes are as fast if the median time of an event while the collector is down is at most so much of that before. */
    private static final double AS_FAST = 1.25;

    private static final double MOST_SECONDS_OF_A_SCRAPE = 1;
    private static final double MEDIAN_SECONDS_OF_A_SCRAPE = 0.1;

    /** Of one processor, all that the script has started. */
    private static final double MOST_LOAD = 0.30;

    /** Gaps that belong to the questions: an update has two ends, and a prepared query is bound before it is executed. */
    private static final Pattern EXPECTED_GAPS = Pattern.compile(".*gap=\"unpaired_(ends|begins)\".*");

    private static final Pattern MINUTES_AND_SECONDS = Pattern.compile("(\\d+)m([0-9.]+)s");
    private static final double MILLIS_PER_MINUTE = 60_000;

    private static final ToDoubleFunction<Samples.Sample> RESIDENT =
            each -> each.process().resident();
    private static final ToDoubleFunction<Samples.Sample> HEAP = Samples.Sample::heap;
    private static final ToDoubleFunction<Samples.Sample> DESCRIPTORS =
            each -> each.process().descriptors();
    private static final ToDoubleFunction<Samples.Sample> THREADS =
            each -> each.process().threads();
    private static final ToDoubleFunction<Samples.Sample> MAPS =
            each -> each.process().maps();
    private static final ToDoubleFunction<Samples.Sample> PROGRAMS =
            each -> each.process().programs();

    private final Recorded run;
    private final Map<String, List<Recorded.Point>> answers;
    private final Map<String, Double> exposition;
    private final Map<String, List<Recorded.Logged>> logs = new LinkedHashMap<>();
    private final Samples samples;
    private final Table table;

    private Judge(Recorded run) throws IOException {
        this.run = run;
        answers = run.answers();
        exposition = run.exposition();
        List<Recorded.Logged> queries = run.queries();
        logs.put("queries", queries);
        logs.put(
                "simple",
                queries.stream().filter(each -> each.kind().equals("statement")).toList());
        logs.put("gc", run.pauses());
        samples = Samples.of(run.process(), answers);
        table = new Table("test/fleet/hour --minutes " + run.fact("minutes") + ", Linux " + run.fact("kernel")
                + ", a scrape and a push each " + run.step() + " s");
    }

    /** Takes the folder of the run. */
    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[0]);
        Judge judge = new Judge(new Recorded(folder));
        judge.judgeExposition();
        judge.judgeCounts();
        judge.judgeLastExposition();
        judge.judgeGaps();
        judge.judgeRates();
        judge.judgeQuantiles();
        judge.judgeMemory();
        judge.judgeWhileDown();
        judge.judgePushes();
        judge.judgeWhatItTook();
        judge.samples.write(folder.resolve("samples.tsv"), judge.run.number("load"));
        System.out.print(judge.table);
        Files.writeString(folder.resolve("table.txt"), judge.table.toString());
        System.exit(judge.table.passes() ? 0 : 1);
    }

    private double answer(String name) {
        return answer(name, Double.NaN);
    }

    private double answer(String name, double otherwise) {
        List<Recorded.Point> points = answers.getOrDefault(name, List.of());
        return points.isEmpty() ? otherwise : points.getFirst().value();
    }

    private double sixthInMillis() {
        return run.number("minutes") * MILLIS_PER_MINUTE / 6;
    }

    private void judgeExposition() {
        table.heading("The exposition");
        for (String when : List.of("begin", "middle", "end")) {
            String silent = "exit code 0, 0 bytes";
            String said = run.fact("promtool." + when);
            table.row("promtool check metrics, " + when, said, silent, said.equals(silent));
            table.equal("status of /healthz, " + when, run.number("health." + when), 200);
        }
        table.equal("least of up, of " + Table.NUMBER.apply(answer("scrapes")) + " scrapes", answer("up"), 1);
        table.atMost("scrape_duration_seconds, largest", answer("scrape.max"), MOST_SECONDS_OF_A_SCRAPE, Table.TIME);
        table.atMost(
                "scrape_duration_seconds, median", answer("scrape.median"), MEDIAN_SECONDS_OF_A_SCRAPE, Table.TIME);
    }

    private void judgeCounts() {
        table.heading("Counts from the first to the last scrape, and those of the logs");
        List<Recorded.Logged> queries = logs.get("queries");
        count("queries", "queries of PostgreSQL", queries.size());
        for (String text : Recorded.texts(queries)) {
            count(
                    "text." + text,
                    "  " + text,
                    queries.stream().filter(each -> each.text().equals(text)).count());
        }
        count("simple", "messages with simple queries", logs.get("simple").size());
        count(
                "query__start",
                "query__start, counted by probe",
                logs.get("simple").size());
        for (String load : List.of("simple", "prepared")) {
            long sent = run.number("transactions." + load) * run.number("statements." + load);
            long logged = queries.stream()
                    .filter(each -> each.kind().equals("statement") == load.equals("simple"))
                    .count();
            table.equal(load + " queries that are logged, and that pgbench has sent", logged, sent);
        }
        count("gc", "pauses of the JVM", logs.get("gc").size());
        count(
                "full",
                "  of full collections",
                logs.get("gc").stream()
                        .filter(each -> each.kind().equals("Full"))
                        .count());
    }

    private void count(String name, String what, long logged) {
        // A series with labels begins with its first event.
        table.equal(what, answer("last." + name, 0) - answer("first." + name, 0), logged);
    }

    private void judgeLastExposition() {
        table.heading("Counts of the exposition at the end, which the script has read itself");
        for (String name : Recorded.HISTOGRAMS) {
            table.equal(name, sum(name, "_count"), logs.get(name).size());
        }
    }

    private void judgeGaps() {
        table.heading("What the answers say they lack");
        for (String question : Recorded.QUESTIONS) {
            table.equal(question + "_exact", exposition.getOrDefault(question + "_exact", Double.NaN), 1);
            double gaps = 0;
            for (Map.Entry<String, Double> each : exposition.entrySet()) {
                if (!each.getKey().startsWith(question + "_gaps_total{") || each.getValue() == 0) {
                    continue;
                }
                if (EXPECTED_GAPS.matcher(each.getKey()).matches()) {
                    table.remark("  " + each.getKey(), Table.NUMBER.apply(each.getValue()));
                } else {
                    gaps += each.getValue();
                }
            }
            table.equal(question + "_gaps_total of other kinds", gaps, 0);
        }
    }

    private void judgeRates() {
        long window = run.steadySeconds();
        table.heading(
                "rate() over " + window + " s, and the log in this time; allowed is what comes within two scrapes");
        long to = run.steadyEnd() * 1000;
        long from = to - window * 1000;
        double allowed = 2.0 * run.step() / window;
        for (String name : Recorded.HISTOGRAMS) {
            double logged = logs.get(name).stream()
                            .filter(each -> each.millis() > from && each.millis() <= to)
                            .count()
                    / (double) window;
            double rate = answer("rate." + name);
            double difference = rate / logged - 1;
            table.row(
                    name,
                    String.format(Locale.ROOT, "%.4f/s, log %.4f/s, %+.2f %%", rate, logged, difference * 100),
                    "+-" + Table.PERCENT.apply(allowed),
                    Math.abs(difference) <= allowed);
        }
    }

    private void judgeQuantiles() {
        table.heading("histogram_quantile(), and the quantile of the log; allowed is the width of the log's bucket");
        for (String name : Recorded.HISTOGRAMS) {
            TreeMap<Double, Double> buckets = Recorded.buckets(exposition, name);
            double[] sorted = logs.get(name).stream()
                    .mapToDouble(Recorded.Logged::seconds)
                    .sorted()
                    .toArray();
            for (double quantile : Recorded.QUANTILES) {
                double asked = answer("quantile." + name + "." + quantile);
                double logged = Recorded.quantile(sorted, quantile);
                Double above = buckets.ceilingKey(logged);
                Double below = buckets.lowerKey(logged);
                double width = above == null ? Double.NaN : above - (below == null ? 0 : below);
                table.row(
                        name + ", " + quantile,
                        Table.TIME.apply(asked) + ", log " + Table.TIME.apply(logged),
                        "+-" + Table.TIME.apply(width),
                        Math.abs(asked - logged) <= width);
            }
            double moved = 0;
            for (Map.Entry<Double, Double> bucket : buckets.entrySet()) {
                long logged = Arrays.stream(sorted)
                        .filter(value -> value <= bucket.getKey())
                        .count();
                moved = Math.max(moved, Math.abs(bucket.getValue() - logged) / sorted.length);
            }
            table.remark("  " + name + ", most events that the log has beyond a bound", Table.PERCENT.apply(moved));
            table.remark(
                    "  " + name + ", mean",
                    Table.TIME.apply(sum(name, "_sum") / sum(name, "_count")) + ", log "
                            + Table.TIME.apply(Arrays.stream(sorted).average().orElse(Double.NaN)));
        }
    }

    /** Over all labels. */
    private double sum(String name, String ending) {
        return exposition.entrySet().stream()
                .filter(each -> each.getKey().matches(Pattern.quote(name + "_seconds" + ending) + "(\\{.*)?"))
                .mapToDouble(Map.Entry::getValue)
                .sum();
    }

    private void judgeMemory() {
        table.heading("The agent: the mean of the first sixth of the time, and of the last");
        Samples first = samples.between(run.number("load"), run.number("load") + sixthInMillis());
        // The last sample is taken just after the end.
        Samples last = samples.between(run.number("loaded") - sixthInMillis(), run.number("last"));
        flat("resident memory", first, last, RESIDENT, FLAT, 0, Table.MIB);
        flat("heap in use", first, last, HEAP, FLAT, 0, Table.MIB);
        flat("open descriptors", first, last, DESCRIPTORS, 1, FEW, Table.NUMBER);
        flat("threads", first, last, THREADS, 1, FEW, Table.NUMBER);
        flat("memory of BPF maps (memlock of fdinfo)", first, last, MAPS, 1, 0, Table.MIB);
        flat("memory of BPF programs", first, last, PROGRAMS, 1, 0, Table.MIB);
    }

    private void flat(
            String what,
            Samples first,
            Samples last,
            ToDoubleFunction<Samples.Sample> figure,
            double factor,
            double more,
            DoubleFunction<String> unit) {
        double before = first.mean(figure);
        table.change(what, before, last.mean(figure), before * factor + more, unit);
    }

    private void judgeWhileDown() {
        long down = run.number("down");
        long up = run.number("up");
        table.heading(String.format(
                Locale.ROOT,
                "The collector is down for %.1f min: nobody listens, then no answer, then status 500. The largest"
                        + " before and while it is",
                (up - down) / MILLIS_PER_MINUTE));
        Samples before = samples.between(down - sixthInMillis(), down);
        Samples during = samples.between(down, up);
        Samples after = samples.between(up, up + sixthInMillis());
        table.change(
                "resident memory",
                before.most(RESIDENT),
                during.most(RESIDENT),
                before.most(RESIDENT) * FLAT,
                Table.MIB);
        table.change("heap in use", before.most(HEAP), during.most(HEAP), before.most(HEAP) * FLAT, Table.MIB);
        table.change(
                "open descriptors",
                before.most(DESCRIPTORS),
                during.most(DESCRIPTORS),
                before.most(DESCRIPTORS) + FEW,
                Table.NUMBER);
        table.change("threads", before.most(THREADS), during.most(THREADS), before.most(THREADS) + FEW, Table.NUMBER);
        for (String question : Recorded.QUESTIONS) {
            double calm = before.medianNanosPerRun(question);
            double busy = during.medianNanosPerRun(question);
            table.row(
                    "ns of an event in the BPF programs of " + question + ", medians",
                    String.format(
                            Locale.ROOT, "%.0f -> %.0f, then %.0f", calm, busy, after.medianNanosPerRun(question)),
                    String.format(Locale.ROOT, "<= %.0f", calm * AS_FAST),
                    busy <= calm * AS_FAST);
        }
    }

    private void judgePushes() throws IOException {
        table.heading("Its pushes");
        Recorded.Pushes pushes = run.pushes();
        List<Recorded.Taken> taken = pushes.taken();
        long down = run.number("down");
        long up = run.number("up");
        Recorded.Taken last = taken.getLast();
        // One may have begun before.
        table.equal(
                "taken while down",
                taken.stream()
                        .filter(push -> push.time() > down && push.millis() < up)
                        .count(),
                0);
        long unheard = last.failed() - pushes.hung() - pushes.refused();
        double due = (run.number("hang") - down) / 1e3 / run.step();
        table.remark("failed, as the agent counts", Table.NUMBER.apply(last.failed()));
        table.remark("  not answered, as the collector counts", Table.NUMBER.apply(pushes.hung()));
        table.remark("  refused, as the collector counts", Table.NUMBER.apply(pushes.refused()));
        // A push that takes as long as the time to the next one skips that.
        table.within("  so while nobody listened", unheard, Math.floor(due / 2) - 1, Math.ceil(due) + 1);
        table.equal("taken, as the agent counts before the last, and the collector", last.pushes(), taken.size() - 1);
        Recorded.Taken leaving = taken.stream()
                .filter(push -> push.time() <= down)
                .reduce((_, next) -> next)
                .orElseThrow();
        Recorded.Taken back =
                taken.stream().filter(push -> push.millis() >= up).findFirst().orElseThrow();
        table.atMost(
                "from the return to the first push", (back.millis() - up) / 1e3, 2.0 * run.step() + 1, Table.SECONDS);
        long brought = back.queries() - leaving.queries();
        long logged = logs.get("queries").stream()
                .filter(each -> each.millis() > leaving.time() && each.millis() <= back.time())
                .count();
        // The log has the time of the end, in milliseconds; the answer is read after the time of its points.
        double second = answer("rate.queries");
        table.row(
                "queries that it brought, and those of the log in this time",
                brought + ", log " + logged,
                "what comes in 1 s",
                Math.abs(brought - logged) <= second);
        List<Recorded.Taken> later = taken.stream()
                .filter(push -> push.millis() >= back.millis() && push.millis() <= run.number("last"))
                .toList();
        double longest = 0;
        for (int i = 1; i < later.size(); i++) {
            longest =
                    Math.max(longest, (later.get(i).millis() - later.get(i - 1).millis()) / 1e3);
        }
        table.atMost(
                "longest time between two of the " + later.size() + " after it",
                longest,
                2.0 * run.step(),
                Table.SECONDS);
        table.equal("with other counts than the scrapes around them, of " + taken.size(), contradictions(taken), 0);
        table.equal("the last one: queries", last.queries(), logs.get("queries").size());
        table.equal(
                "the last one: messages with simple queries",
                last.simple(),
                logs.get("simple").size());
        table.equal("the last one: pauses of the JVM", last.gc(), logs.get("gc").size());
    }

    /** A scrape has the time at which it began. What it says may be a little later. */
    private long contradictions(List<Recorded.Taken> taken) {
        List<Recorded.Point> scrapes = answers.getOrDefault("each.queries", List.of());
        double slack = 2;
        return taken.stream()
                .filter(push -> {
                    double time = push.time() / 1e3;
                    double later = time + run.step() + slack;
                    double most = later * 1e3 >= run.number("last")
                            ? logs.get("queries").size()
                            : Samples.at(scrapes, later);
                    return push.queries() < Samples.at(scrapes, time - slack) || push.queries() > most;
                })
                .count();
    }

    private void judgeWhatItTook() {
        table.heading("What it took, and what is left");
        table.equal("exit code of the agent", run.number("agent.exit"), 0);
        double used = 0;
        Matcher time = MINUTES_AND_SECONDS.matcher(run.fact("cpu"));
        while (time.find()) {
            used += Integer.parseInt(time.group(1)) * 60 + Double.parseDouble(time.group(2));
        }
        table.atMost(
                "of one processor, all that the script has started",
                used * 1e3 / (run.number("over") - run.number("begin")),
                MOST_LOAD,
                Table.PERCENT);
        List<Recorded.Point> cpu = answers.getOrDefault("cpu", List.of());
        if (!cpu.isEmpty()) {
            double seconds = cpu.getLast().time() - cpu.getFirst().time();
            table.remark(
                    "  the agent's process",
                    Table.PERCENT.apply((cpu.getLast().value() - cpu.getFirst().value()) / seconds));
        }
        table.equal("processes and BPF programs that are left", run.number("left"), 0);
    }
}
