package io.bpf4j.test.support;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * A child process that answers each line on its standard input with one line on its standard output: after {@link
 * #command} has returned, all that the command does has happened. <em>Confined.</em>
 */
public class LineProcess implements AutoCloseable {
    private static final long END_SECONDS = Patience.scaled(20);

    private final Process process;
    private final BufferedWriter input;
    private final BufferedReader output;

    /** Starts the program and waits for its first line, which starts with {@code ready}. */
    protected LineProcess(ProcessBuilder builder) throws IOException {
        process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        input = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        String first = output.readLine();
        if (first == null || !first.startsWith("ready")) {
            Processes.end(process);
            throw new IOException(builder.command() + " said " + first + " instead of ready");
        }
    }

    public int pid() {
        return Math.toIntExact(process.pid());
    }

    /** Sends a command and returns the answer. */
    public String command(String line) throws IOException {
        input.write(line);
        input.newLine();
        input.flush();
        String answer = output.readLine();
        if (answer == null) {
            throw new IOException("process " + process.pid() + " ended on command " + line);
        }
        return answer;
    }

    /** Ends the process by closing its standard input; kills it if it doesn't go. */
    @Override
    public void close() {
        try {
            input.close();
            if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                Processes.end(process);
            }
            output.close();
        } catch (IOException e) {
            // The process has closed its end, or was killed by the test.
            Processes.end(process);
        } catch (InterruptedException e) {
            Processes.end(process);
            Thread.currentThread().interrupt();
        }
    }
}
