package io.bpf4j.test.support;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** {@code bpf4j export} as a process beside the test, asked as Prometheus asks it. Closing ends it. */
public final class RunningAgent implements AutoCloseable {
    private static final Pattern SAMPLE = Pattern.compile("(\\w+(?:\\{.*\\})?) (\\S+)");

    private final RunningTrace process;
    private final String url;
    private final HttpClient client = HttpClient.newHttpClient();

    /** An agent at a port that is free; returns when all questions count. */
    public RunningAgent(Path config, String... options) throws IOException, InterruptedException {
        this(new RunningTrace(
                Stream.concat(Stream.of("export", "--config", config.toString(), "--listen", "0"), Stream.of(options))
                        .toArray(String[]::new)));
    }

    /** An agent that was started in another way. */
    public RunningAgent(RunningTrace process) throws IOException, InterruptedException {
        this.process = process;
        try {
            url = url(process);
        } catch (IOException | InterruptedException | RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private static String url(RunningTrace process) throws IOException, InterruptedException {
        Matcher where = Pattern.compile("http://[0-9.:]+").matcher(process.message("bpf4j: serving "));
        if (!where.find()) {
            throw new AssertionError("the agent does not say where it serves");
        }
        return where.group();
    }

    /** What it says and how it ends. */
    public RunningTrace process() {
        return process;
    }

    public HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(URI.create(url + path)).build(), BodyHandlers.ofString());
    }

    /** The metrics in the format that a reader asks for. */
    public HttpResponse<byte[]> scrape(String accept) throws IOException, InterruptedException {
        return client.send(
                HttpRequest.newBuilder(URI.create(url + "/metrics"))
                        .header("Accept", accept)
                        .build(),
                BodyHandlers.ofByteArray());
    }

    /** The samples by name and labels. */
    public Map<String, Double> scrape() throws IOException, InterruptedException {
        HttpResponse<String> response = get("/metrics");
        if (response.statusCode() != 200) {
            throw new AssertionError(response.statusCode() + ": " + response.body());
        }
        Map<String, Double> samples = new LinkedHashMap<>();
        response.body().lines().filter(line -> !line.startsWith("#")).forEach(line -> {
            Matcher sample = SAMPLE.matcher(line);
            if (!sample.matches()) {
                throw new AssertionError("no sample: " + line);
            }
            samples.put(sample.group(1), Double.parseDouble(sample.group(2)));
        });
        return samples;
    }

    /** Has the file read again, and waits for what is said then. */
    public void reload(String until) throws IOException, InterruptedException {
        process.signal("HUP");
        process.awaitMessage(until);
    }

    @Override
    public void close() {
        client.close();
        process.close();
    }
}
