package io.bpf4j.cli.trace;

import io.bpf4j.sys.Host;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * Starts a second process of this command that takes over the links of this one, so that this one can end at once;
 * {@link io.bpf4j.loader.Links#adopt} explains why this needs a second process.
 *
 * <p>After a second Ctrl-C the shell prompt is back in 3 seconds, most of which the second JVM takes to start. Without
 * it 1,000 sites of perf uprobes take 74 seconds, and 10,000 would take twelve minutes (Linux 6.18, two busy CPUs).
 * Linux before 6.6 has no other uprobes.
 *
 * <p>Tested by {@code LinkHandoverTest} and {@code CliStrategyTest}.
 */
final class LinkHandover {
    private static final String MAIN = "io.bpf4j.cli.Main";

    private LinkHandover() {}

    /**
     * Hands the links over. If it returns a number, this process may end.
     *
     * @return the number of descriptors that were taken over; empty on failure: then this process ends only after the
     *     kernel has detached the links
     */
    static OptionalInt takeOver() {
        try {
            List<String> command =
                    thisCommand(Files.readString(Host.running().self().resolve("cmdline")));
            command.addAll(
                    List.of("adopt", Long.toString(ProcessHandle.current().pid())));
            Process successor = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            BufferedReader answers =
                    new BufferedReader(new InputStreamReader(successor.getInputStream(), StandardCharsets.UTF_8));
            String answer = answers.readLine();
            return answer == null ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(answer));
        } catch (IOException | NumberFormatException e) {
            return OptionalInt.empty();
        }
    }

    /** The command line of this process up to the main class or jar: the same JVM options, modules or class path. */
    static List<String> thisCommand(String cmdline) throws IOException {
        List<String> words = List.of(cmdline.split("\0", -1));
        for (int i = 1; i < words.size(); i++) {
            if (words.get(i).endsWith(MAIN) || words.get(i - 1).equals("-jar")) {
                List<String> command = new ArrayList<>(words.subList(0, i + 1));
                command.set(
                        0,
                        Path.of(System.getProperty("java.home"), "bin", "java").toString());
                return command;
            }
        }
        throw new IOException("this process was not started by its main class or its jar");
    }
}
