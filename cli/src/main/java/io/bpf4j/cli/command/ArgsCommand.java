package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.Records;
import io.bpf4j.cli.output.Table;
import io.bpf4j.cli.output.Text;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtArg;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows how argument strings are parsed. */
@Command(
        name = "args",
        description = "Shows how bpf4j reads the argument string of a USDT probe.",
        footer = {
            "  bpf4j args '-4@-20(%%rbp) 8@%%rax'",
            "  bpf4j args --machine aarch64 --json '-4@[sp, 28] 8@x0'",
            "  readelf -n /usr/bin/python3 | sed -n 's/ *Arguments: //p' | bpf4j args -"
        })
final class ArgsCommand implements Callable<Integer> {
    private final Console console;

    @Option(
            names = "--machine",
            paramLabel = "NAME",
            description = "The machine that the program is compiled for, as uname -m names it; by default this one.")
    private String machine = System.getProperty("os.arch");

    @Option(names = "--json", description = "One JSON object for each string.")
    private boolean json;

    @Parameters(
            arity = "1..*",
            paramLabel = "STRING",
            description = "An argument string; - reads one from each line of standard input.")
    private List<String> strings = new ArrayList<>();

    ArgsCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws IOException {
        Machine target = Machine.named(machine)
                .orElseThrow(() -> new UsageException("unknown machine '" + machine
                        + "'; known are x86_64, i386, aarch64, arm, riscv64, s390x, ppc64le, loongarch64"));
        for (String string : strings) {
            if (string.startsWith("--")) {
                throw new UsageException("Unknown option: '" + string + "'");
            }
            if (string.equals("-")) {
                for (String line = console.in().readLine();
                        line != null;
                        line = console.in().readLine()) {
                    show(target, line);
                }
            } else {
                show(target, string);
            }
        }
        return CommandTree.OK;
    }

    private void show(Machine target, String string) {
        List<UsdtArg> args = UsdtArg.parse(target, string);
        if (json) {
            JsonLine line = Records.begin("args").field("args", string).key("parsed");
            ArgJson.write(line, args);
            console.line(line.endObject().toString());
            return;
        }
        console.line(Text.printable(string));
        Table table = new Table("  ");
        for (int n = 0; n < args.size(); n++) {
            table.row("arg" + n, ArgText.type(args.get(n)), ArgText.place(args.get(n)));
        }
        table.print(console);
    }
}
