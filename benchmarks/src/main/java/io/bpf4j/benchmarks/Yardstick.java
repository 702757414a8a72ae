package io.bpf4j.benchmarks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * Runs the C harness, which does the same work by libbpf and by bare system calls. <b>Immutable</b>.
 *
 * @param program takes the number of shots, and prints a line for each way, work and size: these three and the time of
 *     each shot in milliseconds, with tabs between
 */
record Yardstick(Path program) {
    /** One way to do one piece of work. */
    interface Line {
        void read(String way, String work, String size, double[] milliseconds);
    }

    void measure(int shots, Line line) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(program.toString(), Integer.toString(shots))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        List<String> printed;
        try (var reader = process.inputReader(StandardCharsets.UTF_8)) {
            printed = reader.lines().toList();
        }
        if (process.waitFor() != 0) {
            throw new IOException(program + " ended with " + process.exitValue());
        }
        for (String each : printed) {
            String[] fields = each.split("\t", -1);
            if (fields.length < 4) {
                throw new IOException(program + ": fewer than four fields with tabs between: " + each);
            }
            double[] times = Arrays.stream(fields)
                    .skip(3)
                    .mapToDouble(Double::parseDouble)
                    .toArray();
            line.read(fields[0], fields[1], fields[2], times);
        }
    }
}
