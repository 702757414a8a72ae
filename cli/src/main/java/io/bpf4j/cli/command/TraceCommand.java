package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.Interruption;
import java.io.IOException;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * Attaches to probes and prints a line for each event.
 *
 * <p>Tested by {@code CliTraceTest} and {@code CommandTreeTest}.
 */
@Command(
        name = "trace",
        description = {
            "Prints a line each time a probe fires: time, process/thread, thread name, probe, arguments.",
            "Needs root, or CAP_BPF and CAP_PERFMON where one link takes many probes (Linux 6.6); perf uprobes, "
                    + "which older kernels need, may need CAP_SYS_ADMIN. Ctrl-C detaches and prints how many events "
                    + "came."
        },
        footer = {
            "  bpf4j trace -p 4711 'hotspot:gc__*'",
            "  bpf4j trace -p 4711 hotspot:class__loaded --str 0:1",
            "  bpf4j trace -p 4711 hotspot:class__loaded --where 'shared == false' --show name,loader",
            "  bpf4j trace /usr/lib/postgresql/15/bin/postgres postgresql:query__start --str 0",
            "  bpf4j trace -c 'python3 -c pass' 'python:import__find__load__*' --str 0 --json"
        })
final class TraceCommand implements Callable<Integer> {
    private final Console console;
    private final Interruption interruption;

    @Mixin
    private final TraceOptions options = new TraceOptions();

    TraceCommand(Console console, Interruption interruption) {
        this.console = console;
        this.interruption = interruption;
    }

    @Override
    public Integer call() throws IOException {
        options.check();
        TargetRun.Work work = options.isQuestion()
                ? new QuestionRun(console, options.target(), OptionalLong.empty(), options.count(), options::of)
                : new TraceRun(console, options);
        new TargetRun(console, interruption, options.target(), options.strings()).run(work);
        return CommandTree.OK;
    }
}
