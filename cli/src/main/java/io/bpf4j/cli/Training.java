package io.bpf4j.cli;

import io.bpf4j.cli.command.CommandTree;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.Interruption;
import java.util.List;

/**
 * The training run of the launcher's AOT cache: runs the code that most commands use, so that the JVM records which
 * classes they load.
 *
 * <p>It needs no privilege. As root, it attaches to its own process and to a JVM that does nothing. As another user
 * these commands fail, and the classes that they would have loaded later are not in the cache.
 */
public final class Training {
    private Training() {}

    public static void main(String[] args) {
        String self = String.valueOf(ProcessHandle.current().pid());
        String java = System.getProperty("java.home") + "/bin/java -version";
        CommandTree tree = new CommandTree(Console.standard(), Interruption.ofProcess());
        for (List<String> line : List.of(
                List.of("--version"),
                List.of("--help"),
                List.of("count", "--help"),
                List.of("no-such-command"),
                List.of("args", "8@%rax"),
                List.of("catalog", "hotspot:gc*", "--json"),
                List.of("jvm"),
                List.of("list", "-p", self),
                List.of("count", "-p", self, "hotspot:gc__begin", "--by", "pid,comm", "--duration", "0.02"),
                List.of("hist", "-p", self, "hotspot:gc__begin", "--of", "full", "--by", "pid", "--duration", "0.02"),
                List.of("jvm", "gc", "-p", self, "--duration", "0.02"),
                List.of("trace", "-p", self, "hotspot:thread__start", "--where", "name != \"\"", "--duration", "0.02"),
                List.of("trace", "-c", java, "hotspot:vm__init__end", "--json"),
                List.of("count", "-c", java, "hotspot:vm__init__end"))) {
            tree.run(line.toArray(String[]::new));
        }
        System.exit(CommandTree.OK);
    }
}
