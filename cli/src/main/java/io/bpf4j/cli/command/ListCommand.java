package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.ErrorText;
import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.Records;
import io.bpf4j.cli.output.Remark;
import io.bpf4j.cli.output.Table;
import io.bpf4j.cli.output.Text;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.usdt.JvmProbes;
import io.bpf4j.usdt.ProbePattern;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Lists the probes of files or of a process. Files need no privilege.
 *
 * <p>Tested by {@code CliTest} and {@code CliUsageTest}.
 */
@Command(
        name = "list",
        description = "Lists the USDT probes of files, or of all files that a process has mapped.",
        footer = {
            "  bpf4j list /usr/lib/jvm/*/lib/server/libjvm.so 'hotspot:gc__*'",
            "  bpf4j list libstdc++",
            "  bpf4j list -p 4711",
            "  bpf4j list --all 'python:*'",
            "  bpf4j list --json /usr/bin/python3 | jq -r .name"
        })
final class ListCommand implements Callable<Integer> {
    private static final int PIDS_SHOWN = 8;

    private final Console console;

    @Option(names = "-p", paramLabel = "PID", description = "The program and the libraries of this process.")
    private @Nullable Integer pid;

    @Option(
            names = {"-a", "--all"},
            description = "All files that any process has mapped, with these processes.")
    private boolean all;

    @Option(
            names = "-v",
            description =
                    "Also show each site's module and function, which names in DTrace's form select, and its code: "
                            + "nop, or "
                            + "nop,nop5 and nop,nop10, which newer kernels can replace by a faster probe.")
    private boolean verbose;

    @Option(names = "--json", description = "One JSON object for each probe.")
    private boolean json;

    @Parameters(
            arity = "0..*",
            paramLabel = "FILE|PROVIDER:NAME",
            description = "Executables and libraries, and patterns for their probes; * and ? match any text.")
    private List<String> operands = new ArrayList<>();

    private boolean failed;

    /** A scan, and the patterns that are looked up in this scan only. */
    private record Source(UsdtScan scan, List<ProbePattern> ownPatterns) {
        UsdtScan matching(List<ProbePattern> ofAll) {
            return Scans.matching(
                    scan, Stream.concat(ofAll.stream(), ownPatterns.stream()).toList());
        }
    }

    ListCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws IOException {
        Operands parsed = Operands.of(operands);
        Integer ofOption = pid;
        OptionalInt process = parsed.process(ofOption == null ? OptionalInt.empty() : OptionalInt.of(ofOption));
        all |= parsed.selectsAllProcesses() && pid == null;
        parsed.checkTarget(pid != null, false);
        int given = (parsed.files().isEmpty() ? 0 : 1) + (process.isEmpty() ? 0 : 1) + (all ? 1 : 0);
        if (given != 1) {
            parsed.checkNames();
            if (all && process.isPresent() && pid == null) {
                throw new UsageException(
                        "one name selects process " + process.getAsInt() + ", but --all selects all processes");
            }
            throw new UsageException(
                    given == 0 ? "name a FILE, or give -p PID or --all" : "give only one of FILE, -p PID and --all");
        }
        List<Source> sources = process.isPresent()
                ? List.of(new Source(Scans.ofProcess(process.getAsInt()), List.of()))
                : all ? List.of(new Source(Scans.ofMachine(console), List.of())) : ofFiles(parsed);
        UsdtScan scan = UsdtScan.join(sources.stream().map(Source::scan).toList());
        UsdtScan found = UsdtScan.join(sources.stream()
                .map(source -> source.matching(parsed.ofAllFiles()))
                .toList());
        scan.files().forEach(file -> file.problems().forEach(console::remark));
        for (UsdtScan.File file : found.files()) {
            print(file);
            if (verbose) {
                hints(file.probes(), process).forEach(console::remark);
            }
        }
        boolean none = found.probes().isEmpty();
        console.flush();
        if (none && parsed.patterns().isEmpty() && !scan.files().isEmpty()) {
            console.remark(scan.whyNone());
        }
        reportUnmatched(scan, parsed.ofAllFiles());
        sources.forEach(source -> reportUnmatched(source.scan(), source.ownPatterns()));
        List<Remark> remarks = console.remarks();
        if (json && !remarks.isEmpty()) {
            console.line(Remark.json(Records.begin("remarks"), "remarks", remarks)
                    .endObject()
                    .toString());
        }
        return failed || none ? CommandTree.FAILED : CommandTree.OK;
    }

    private void reportUnmatched(UsdtScan scan, List<ProbePattern> patterns) {
        if (!scan.files().isEmpty()) {
            Scans.unmatched(scan, patterns)
                    .forEach(pattern -> console.remark(scan.matching(pattern).whyNone()));
        }
    }

    /** Scans the files. Reports a file that can't be read, and continues with the others. */
    private List<Source> ofFiles(Operands parsed) {
        List<Source> scans = new ArrayList<>();
        for (Path file : parsed.files()) {
            try {
                scans.add(new Source(UsdtScan.ofFile(Operands.check(file)), parsed.ofFile(file)));
            } catch (IOException | MalformedDataException | CommandException e) {
                console.remark(ErrorText.of(e));
                failed = true;
            }
        }
        return scans;
    }

    private static List<Diagnostic> hints(List<UsdtProbe> probes, OptionalInt process) {
        return process.isPresent()
                ? JvmProbes.hints(probes, Host.running(), process.getAsInt())
                : JvmProbes.hints(probes);
    }

    private Map<Long, String> functions(UsdtScan.File file) {
        try {
            return file.functions();
        } catch (IOException | MalformedDataException e) {
            console.remark(file.path() + ": the functions of sites can't be found: " + ErrorText.of(e));
            return Map.of();
        }
    }

    private void print(UsdtScan.File file) {
        List<UsdtProbe> probes = file.probes();
        List<Integer> pids = all ? file.pids() : List.of();
        Map<Long, String> functions = verbose ? functions(file) : Map.of();
        if (json) {
            probes.forEach(probe -> console.line(json(probe, pids, functions)));
        } else if (!probes.isEmpty()) {
            int sites = probes.stream().mapToInt(p -> p.sites().size()).sum();
            console.line(Text.printable(file.name()) + ": " + Scans.count(probes.size(), "probe") + ", "
                    + Scans.count(sites, "site") + processes(pids));
            Table table = new Table("  ")
                    .row(columns("PROBE", "ADDRESS", "OFFSET", "SEMAPHORE", "MODULE", "FUNCTION", "CODE", "ARGUMENTS"));
            for (UsdtProbe probe : probes) {
                for (UsdtSite site : probe.sites()) {
                    table.row(columns(
                            probe.fullName(),
                            hex(site.address()),
                            hex(site.fileOffset()),
                            site.hasSemaphore() ? hex(site.semaphoreAddress()) : "-",
                            probe.module(),
                            functions.getOrDefault(site.address(), "-"),
                            site.code().toString(),
                            site.arguments()));
                    site.unreadable()
                            .forEach((arg, reason) -> table.row(
                                    columns("", "", "", "", "", "", "", "arg" + arg + " can't be read: " + reason)));
                }
            }
            table.print(console);
        }
    }

    private static String processes(List<Integer> pids) {
        if (pids.isEmpty()) {
            return "";
        }
        List<Integer> shown = pids.subList(0, Math.min(PIDS_SHOWN, pids.size()));
        return pids.stream().limit(PIDS_SHOWN).map(String::valueOf).collect(Collectors.joining(", ", ", in ", ""))
                + (pids.size() > shown.size() ? " and " + (pids.size() - shown.size()) + " more" : "");
    }

    private String[] columns(
            String probe,
            String address,
            String offset,
            String semaphore,
            String module,
            String function,
            String code,
            String arguments) {
        return verbose
                ? new String[] {probe, address, offset, semaphore, module, function, code, arguments}
                : new String[] {probe, address, offset, semaphore, arguments};
    }

    private static String hex(long value) {
        return "0x" + Long.toHexString(value);
    }

    private static String json(UsdtProbe probe, List<Integer> pids, Map<Long, String> functions) {
        JsonLine line = Records.begin("probe")
                .field("probe", probe.fullName())
                .field("path", probe.binary().name())
                .field("provider", probe.provider())
                .field("name", probe.name());
        if (!pids.isEmpty()) {
            line.key("pids").beginArray();
            pids.forEach(pid -> line.value(pid.longValue()));
            line.endArray();
        }
        line.key("sites").beginArray();
        for (UsdtSite site : probe.sites()) {
            line.beginObject()
                    .unsignedField("address", site.address())
                    .unsignedField("offset", site.fileOffset())
                    .unsignedField("semaphore", site.semaphoreAddress());
            String function = functions.get(site.address());
            if (function != null) {
                line.field("function", function);
            }
            line.field("code", site.code().toString())
                    .field("args", site.arguments())
                    .key("parsed");
            ArgJson.write(line, site.args());
            line.key("unreadable").beginArray();
            site.unreadable()
                    .forEach((arg, reason) -> line.beginObject()
                            .field("arg", arg)
                            .field("reason", reason)
                            .endObject());
            line.endArray();
            line.endObject();
        }
        return line.endArray().endObject().toString();
    }
}
