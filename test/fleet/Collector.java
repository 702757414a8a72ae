import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.bpf4j.test.cli.OtlpReceiver;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;

/**
 * A collector that can be down; see {@code hour}. It reads pushes by the protocol's own classes, and takes a word from each
 * line of standard input:
 *
 * <pre>
 * down      nobody listens at the port
 * hang      pushes are read and never answered
 * refuse    pushes are answered with status 500, which nobody tries again
 * up        pushes are taken
 * end       ends it, and so does the end of the input
 * </pre>
 *
 * <p>It prints a line with tabs for each thing that happens, which begins with the time in milliseconds since 1970: the
 * port, each state, each push that hangs or is refused, and each that is taken. The last have the time of their points in
 * milliseconds, the events of the metrics {@code queries}, {@code simple} and {@code gc}, and how many pushes the agent says
 * were taken and failed so far.
 */
class Collector {
    private static final int NANOS_PER_MILLI = 1_000_000;

    private static final CountDownLatch ENDING = new CountDownLatch(1);

    private static volatile String state = "up";

    public static void main(String[] arguments) throws IOException {
        OtlpReceiver receiver = open(0);
        int port = receiver.port();
        say("port", port);
        BufferedReader words = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String word = words.readLine(); word != null && !word.equals("end"); word = words.readLine()) {
            String before = state;
            state = word;
            if (word.equals("down")) {
                close(receiver);
            } else if (before.equals("down")) {
                receiver = open(port);
            }
            say("state", word);
        }
        ENDING.countDown();
        close(receiver);
    }

    private static OtlpReceiver open(int port) throws IOException {
        OtlpReceiver receiver =
                new OtlpReceiver(HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0));
        receiver.answer((_, exchange, push) -> answer(exchange, push));
        return receiver;
    }

    /** Not while a push is taken, or it would be counted here and not by the agent. */
    private static synchronized void close(OtlpReceiver receiver) {
        receiver.close();
    }

    private static void answer(HttpExchange exchange, ExportMetricsServiceRequest push) throws IOException {
        switch (state) {
            case "hang" -> {
                say("hung");
                try {
                    ENDING.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
            case "refuse" -> {
                say("refused");
                exchange.sendResponseHeaders(500, -1);
            }
            default -> take(exchange, push);
        }
    }

    private static synchronized void take(HttpExchange exchange, ExportMetricsServiceRequest push) throws IOException {
        long time = 0;
        long queries = 0;
        long simple = 0;
        long gc = 0;
        long pushes = 0;
        long failed = 0;
        for (Metric metric : OtlpReceiver.metrics(push)) {
            switch (metric.getName()) {
                case "queries" -> queries = events(metric);
                case "simple" -> {
                    simple = events(metric);
                    time = metric.getHistogram().getDataPoints(0).getTimeUnixNano() / NANOS_PER_MILLI;
                }
                case "gc" -> gc = events(metric);
                case "bpf4j_otlp_pushes" -> pushes = number(metric);
                case "bpf4j_otlp_failed_pushes" -> failed = number(metric);
                default -> {}
            }
        }
        exchange.getResponseHeaders().set("Content-Type", "application/x-protobuf");
        exchange.sendResponseHeaders(200, -1);
        exchange.close();
        say("taken", time, queries, simple, gc, pushes, failed);
    }

    private static long events(Metric metric) {
        return metric.getHistogram().getDataPointsList().stream()
                .mapToLong(HistogramDataPoint::getCount)
                .sum();
    }

    private static long number(Metric metric) {
        NumberDataPoint point = metric.getSum().getDataPoints(0);
        return point.hasAsInt() ? point.getAsInt() : Math.round(point.getAsDouble());
    }

    private static synchronized void say(Object... words) {
        StringBuilder line = new StringBuilder(Long.toString(System.currentTimeMillis()));
        for (Object word : words) {
            line.append('\t').append(word);
        }
        System.out.println(line);
    }
}
