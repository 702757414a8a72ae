package io.bpf4j.benchmarks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A program that measures by itself: the C harness, which does the work by libbpf and by bare system calls; and what of
 * bpf4j JMH can't measure, because the figures are no times of a method. <i>Immutable.</i>
 *
 * @param command prints a line for each way, work and size: these three, the unit of the figures, and the figure of each
 *     shot, with tabs between
 */
record Yardstick(List<String> command) {
    /** One way to do one piece of work. */
    interface Line {
        void read(String way, String work, String size, String unit, double[] figures);
    }

    /** Prints a line of bpf4j, for what measures in a JVM of its own. */
    static void print(String work, String size, String unit, double... figures) {
        System.out.println(Stream.concat(
                        Stream.of(Comparison.BPF4J, work, size, unit),
                        Arrays.stream(figures).mapToObj(Double::toString))
                .collect(Collectors.joining("\t")));
    }

    void measure(Line line) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        List<String> printed;
        try (var reader = process.inputReader(StandardCharsets.UTF_8)) {
            printed = reader.lines().toList();
        }
        String name = String.join(" ", command);
        if (process.waitFor() != 0) {
            throw new IOException(name + " ended with " + process.exitValue());
        }
        for (String each : printed) {
            String[] fields = each.split("\t", -1);
            if (fields.length < 5) {
                throw new IOException(name + ": fewer than five fields with tabs between: " + each);
            }
            double[] figures = Arrays.stream(fields)
                    .skip(4)
                    .mapToDouble(Double::parseDouble)
                    .toArray();
            line.read(fields[0], fields[1], fields[2], fields[3], figures);
        }
    }
}
