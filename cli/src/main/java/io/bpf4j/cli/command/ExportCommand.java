package io.bpf4j.cli.command;

import io.bpf4j.cli.export.Agent;
import io.bpf4j.cli.export.ConfigFile;
import io.bpf4j.cli.export.ConfigLine;
import io.bpf4j.cli.export.ContainerNames;
import io.bpf4j.cli.export.CpuBudget;
import io.bpf4j.cli.export.MetricNames;
import io.bpf4j.cli.export.MetricsServer;
import io.bpf4j.cli.export.Mistake;
import io.bpf4j.cli.export.ProgramStatistics;
import io.bpf4j.cli.export.ServerAccess;
import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.ErrorText;
import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.otlp.OtlpSettings;
import io.bpf4j.cli.otlp.Pusher;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.Interruption;
import io.bpf4j.elf.Bpf4jException;
import io.bpf4j.sys.Host;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;

/**
 * The agent: asks the questions of a file until it is ended, and serves their answers as metrics.
 *
 * <p>Tested by {@code ExportCommandTest} and {@code CliExportTest}.
 */
@Command(
        name = "export",
        description = {
            "Asks the questions of a file, and serves the answers as metrics, for Prometheus and others that read its "
                    + "formats: at /metrics, and at /healthz whether all questions count. --otlp pushes them to an "
                    + "OpenTelemetry collector instead, or, with --listen, as well.",
            "Each line of the file has the name of a metric and a question, as it is typed without bpf4j: count, hist, "
                    + "latency or a ready question. A line may end in a backslash and go on in the next one; # begins a "
                    + "comment, which has a line for itself. Options of the metric, anywhere after its name: --help "
                    + "TEXT, --label LABEL=EXPR (the label of a key of --by), --constant LABEL=VALUE, --bounds N,… (of "
                    + "a histogram, in seconds or bytes), --max-series N (1000) and --stale-after T (5m).",
            "SIGHUP reads the file again, and those with certificates and tokens: lines that have not changed go on "
                    + "counting. If a line is wrong, all stays as it was. Ctrl-C ends. Needs the same privileges as 'trace'."
        },
        footer = {
            "  bpf4j export --config /etc/bpf4j/agent.conf",
            "  bpf4j export --config /etc/bpf4j/agent.conf --otlp https://collector.example:4318",
            "  bpf4j export --config agent.conf --listen 0.0.0.0:10273 --tls-certificate tls.crt --tls-key tls.key --token token",
            "  bpf4j export --check /etc/bpf4j/agent.conf",
            "  echo 'queries count -p unit=postgresql@* postgresql:query__start' > agent.conf"
        })
final class ExportCommand implements Callable<Integer> {
    private final Console console;
    private final Interruption interruption;
    private final BiFunction<MetricOptions, List<String>, ParseResult> parser;

    /** Completed when the agent is to end. */
    private final CompletableFuture<Boolean> stop = new CompletableFuture<>();

    /** A permit for each signal. */
    private final Semaphore signals = new Semaphore(0);

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "The questions. Nobody else may be able to change it.")
    private @Nullable Path config;

    @Option(
            names = "--check",
            paramLabel = "FILE",
            description =
                    "Ask nothing: print what is wrong with each line of this file. Needs no root, and does not look "
                            + "for the probes.")
    private @Nullable Path check;

    @Mixin
    private ServerOptions serving = new ServerOptions();

    @Mixin
    private OtlpOptions otlp = new OtlpOptions();

    @Option(
            names = "--statistics",
            description =
                    "Have the kernel measure how often and how long BPF programs run, and serve it. This adds 20 to "
                            + "40 ns to each run of each BPF program of the machine. Needs CAP_SYS_ADMIN, or sysctl "
                            + "kernel.bpf_stats_enabled=1.")
    private boolean statistics;

    @Option(
            names = "--max-cpu",
            paramLabel = "PERCENT",
            description =
                    "How much of a processor the BPF programs of all questions may take together. If they take more, "
                            + "the costliest questions are suspended: their probes are detached until SIGHUP, or for ten minutes. "
                            + "Turns --statistics on.")
    private String maxCpu = "";

    @Option(
            names = "--container-names",
            description =
                    "Serve the names of containers by their ids, as Docker, containerd, Podman and CRI-O keep them in "
                            + "files. Everybody who can read the metrics can read them. Needs to read what only root may.")
    private boolean containerNames;

    /** @param parser parses the words of a question, with options of its metric */
    ExportCommand(
            Console console, Interruption interruption, BiFunction<MetricOptions, List<String>, ParseResult> parser) {
        this.console = console;
        this.interruption = interruption;
        this.parser = parser;
    }

    @Override
    public Integer call() throws IOException {
        if ((config == null) == (check == null)) {
            throw new UsageException("give either --config FILE or --check FILE");
        }
        Optional<OtlpSettings> push = otlp.settings(System.getenv());
        if (check != null) {
            return check(check);
        }
        OptionalDouble limit = limit();
        Optional<InetSocketAddress> address = serving.address(push.isPresent());
        ServerAccess access = serving.access(address.isPresent());
        Path file = Objects.requireNonNull(config);
        Optional<Collection<ExportedLine>> first = read(file);
        return first.isEmpty() ? CommandTree.FAILED : run(address, access, push, file, first.get(), limit);
    }

    /** The budget, in percent of a processor. */
    private OptionalDouble limit() {
        try {
            double percent = maxCpu.isEmpty() ? 1 : Double.parseDouble(maxCpu);
            if (percent > 0 && Double.isFinite(percent)) {
                return maxCpu.isEmpty() ? OptionalDouble.empty() : OptionalDouble.of(percent);
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new UsageException("--max-cpu takes a number of percent above 0, such as 2.5, not '" + maxCpu + "'");
    }

    private int check(Path file) throws IOException {
        Optional<Collection<ExportedLine>> lines = read(file);
        if (lines.isEmpty()) {
            return CommandTree.FAILED;
        }
        console.line(file + ": " + Scans.count(lines.get().size(), "question") + ", no mistake");
        return CommandTree.OK;
    }

    /** The questions of a file; empty, with messages, if there is a mistake. */
    private Optional<Collection<ExportedLine>> read(Path file) throws IOException {
        List<Mistake> mistakes = new ArrayList<>();
        List<ConfigLine> lines = ConfigFile.read(file, mistakes::add);
        List<ExportedLine> parsed = new ArrayList<>();
        for (ConfigLine line : lines) {
            ExportedLine.of(line, parser, text -> mistakes.add(new Mistake(line.number(), text)))
                    .ifPresent(parsed::add);
        }
        MetricNames.check(lines, mistakes::add);
        if (lines.isEmpty() && mistakes.isEmpty()) {
            throw new CommandException(file + ": has no question");
        }
        print(file, mistakes);
        return mistakes.isEmpty() ? Optional.of(parsed) : Optional.empty();
    }

    private void print(Path file, List<Mistake> mistakes) {
        mistakes.stream()
                .sorted(Comparator.comparingInt(Mistake::line))
                .forEach(mistake -> console.error("bpf4j: " + file + ":" + mistake.line() + ": " + mistake.text()));
    }

    /** Runs the agent with its server, its pushes, or both. */
    private int run(
            Optional<InetSocketAddress> address,
            ServerAccess access,
            Optional<OtlpSettings> push,
            Path file,
            Collection<ExportedLine> first,
            OptionalDouble limit) {
        // In this order: a signal that comes while the questions are attached is not lost.
        interruption.onHangUp(signals::release);
        interruption.onRequest(() -> {
            boolean _ = stop.complete(true);
            signals.release();
        });
        try (ProgramStatistics measured =
                        statistics || limit.isPresent() ? ProgramStatistics.start(Host.running()) : null;
                Agent agent = new Agent(
                        Optional.ofNullable(measured),
                        containerNames ? Optional.of(new ContainerNames(Path.of("/"))) : Optional.empty());
                CpuBudget _ = budget(agent, measured, limit);
                Pusher pusher = push.map(settings -> new Pusher(settings, agent, console))
                        .orElse(null);
                MetricsServer server =
                        address.map(at -> server(at, access, agent, pusher)).orElse(null)) {
            if (!ask(agent, file, first)) {
                return CommandTree.FAILED;
            }
            if (server != null) {
                server.remarks().forEach(remark -> console.error("bpf4j: " + remark));
            }
            if (pusher != null) {
                pusher.start();
            }
            console.error(
                    "bpf4j: " + ways(first.size(), server, pusher) + "; SIGHUP reads " + file + " again, Ctrl-C ends");
            awaitRequests(agent, file, server, pusher);
            return CommandTree.OK;
        } catch (CancellationException e) {
            return CommandTree.OK;
        }
    }

    private static String ways(int questions, @Nullable MetricsServer server, @Nullable Pusher pusher) {
        List<String> ways = new ArrayList<>();
        if (server != null) {
            ways.add("serving " + Scans.count(questions, "question") + " at " + server.url() + "/metrics");
        }
        if (pusher != null) {
            ways.add("pushing " + Scans.count(questions, "question") + " to " + pusher.url() + " every "
                    + pusher.every().toMillis() / 1e3 + " s");
        }
        return String.join(" and ", ways);
    }

    /** Reads the file again at each SIGHUP, until the command shall end. */
    private void awaitRequests(Agent agent, Path file, @Nullable MetricsServer server, @Nullable Pusher pusher) {
        while (true) {
            signals.acquireUninterruptibly();
            int _ = signals.drainPermits();
            if (interruption.requested()) {
                return;
            }
            reload(agent, file);
            if (server != null) {
                server.reload().forEach(problem -> console.error("bpf4j: " + problem));
            }
            if (pusher != null) {
                pusher.reload();
            }
        }
    }

    private MetricsServer server(InetSocketAddress address, ServerAccess access, Agent agent, @Nullable Pusher pusher) {
        return pusher == null
                ? MetricsServer.start(address, agent, agent::health, access, console)
                : MetricsServer.start(
                        address,
                        () -> {
                            MetricSnapshots.Builder all = MetricSnapshots.builder();
                            agent.collect().forEach(all::metricSnapshot);
                            pusher.collect().forEach(all::metricSnapshot);
                            return all.build();
                        },
                        () -> agent.health().with(pusher.remarks()),
                        access,
                        console);
    }

    private @Nullable CpuBudget budget(Agent agent, @Nullable ProgramStatistics measured, OptionalDouble limit) {
        return limit.isEmpty() || measured == null
                ? null
                : CpuBudget.start(limit.getAsDouble(), agent::questions, measured::areOn, console);
    }

    private void reload(Agent agent, Path file) {
        try {
            Optional<Collection<ExportedLine>> lines = read(file);
            if (lines.isPresent() && ask(agent, file, lines.get())) {
                console.error("bpf4j: " + file + ": serving "
                        + Scans.count(lines.get().size(), "question"));
                return;
            }
        } catch (IOException | CommandException | Bpf4jException e) {
            console.error("bpf4j: " + ErrorText.of(e));
        }
        agent.refused();
        console.error("bpf4j: " + file + " was not taken: the questions before go on");
    }

    private boolean ask(Agent agent, Path file, Collection<ExportedLine> lines) {
        Map<ConfigLine, ExportedLine> bySource = new LinkedHashMap<>();
        lines.forEach(line -> bySource.put(line.source(), line));
        List<Mistake> mistakes = agent.ask(
                List.copyOf(bySource.keySet()),
                line -> ExportedQuestion.start(Objects.requireNonNull(bySource.get(line)), console, stop));
        print(file, mistakes);
        return mistakes.isEmpty();
    }
}
