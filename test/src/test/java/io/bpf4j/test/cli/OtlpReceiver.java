package io.bpf4j.test.cli;

import com.google.protobuf.InvalidProtocolBufferException;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.bpf4j.test.support.Await;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceResponse;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import io.opentelemetry.proto.resource.v1.Resource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A receiver of OTLP over HTTP, which keeps what it takes; {@code test/fleet} uses it, too. <i>Thread-safe.</i> */
public final class OtlpReceiver implements AutoCloseable {
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final List<ExportMetricsServiceRequest> taken = new CopyOnWriteArrayList<>();
    private final HttpServer server;

    /** What it answers in the place of taking a push. */
    private volatile Answer answer = OtlpReceiver::take;

    /** What becomes of a push. */
    public interface Answer {
        void give(OtlpReceiver receiver, HttpExchange exchange, ExportMetricsServiceRequest push) throws IOException;
    }

    OtlpReceiver() throws IOException {
        this(HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0));
    }

    /** @param server that does not run yet */
    public OtlpReceiver(HttpServer server) {
        this.server = server;
        server.setExecutor(threads);
        server.createContext("/v1/metrics", exchange -> {
            try (exchange) {
                answer.give(this, exchange, read(exchange));
            }
        });
        server.start();
    }

    private static ExportMetricsServiceRequest read(HttpExchange exchange) throws IOException {
        try {
            return ExportMetricsServiceRequest.parseFrom(
                    exchange.getRequestBody().readAllBytes());
        } catch (InvalidProtocolBufferException e) {
            throw new AssertionError("not a push", e);
        }
    }

    private static void take(OtlpReceiver receiver, HttpExchange exchange, ExportMetricsServiceRequest push)
            throws IOException {
        receiver.taken.add(push);
        byte[] body = ExportMetricsServiceResponse.getDefaultInstance().toByteArray();
        exchange.getResponseHeaders().set("Content-Type", "application/x-protobuf");
        exchange.sendResponseHeaders(200, body.length == 0 ? -1 : body.length);
    }

    /** Answers in this way from now on. */
    public void answer(Answer other) {
        answer = other;
    }

    /** Takes pushes again. */
    void take() {
        answer = OtlpReceiver::take;
    }

    String url() {
        return "http://127.0.0.1:" + port();
    }

    public int port() {
        return server.getAddress().getPort();
    }

    List<ExportMetricsServiceRequest> taken() {
        return List.copyOf(taken);
    }

    /** Waits for a push that begins after this call, and returns the values of the last one that was taken. */
    Map<String, Double> next() throws IOException, InterruptedException {
        // The next one may have been read before, the one after it was not.
        int before = taken.size() + 2;
        Await.until("two more pushes", () -> taken.size() >= before);
        return values();
    }

    /**
     * The values of the last push, by the name of their metric and their attributes: {@code name{key=value}}. A histogram
     * has {@code name.count}, {@code name.sum} and {@code name.bucket{le=BOUND}}, which adds up from the lowest.
     */
    Map<String, Double> values() {
        Map<String, Double> values = new TreeMap<>();
        for (Metric metric : metrics(taken.getLast())) {
            for (NumberDataPoint point : metric.hasSum()
                    ? metric.getSum().getDataPointsList()
                    : metric.getGauge().getDataPointsList()) {
                values.put(
                        metric.getName() + text(point.getAttributesList()),
                        point.hasAsInt() ? (double) point.getAsInt() : point.getAsDouble());
            }
            metric.getHistogram().getDataPointsList().forEach(point -> {
                String attributes = text(point.getAttributesList());
                values.put(metric.getName() + ".count" + attributes, (double) point.getCount());
                values.put(metric.getName() + ".sum" + attributes, point.getSum());
                long sum = 0;
                for (int i = 0; i < point.getExplicitBoundsCount(); i++) {
                    sum += point.getBucketCounts(i);
                    values.put(
                            metric.getName() + ".bucket{le=" + point.getExplicitBounds(i) + "}" + attributes,
                            (double) sum);
                }
            });
            metric.getExponentialHistogram().getDataPointsList().forEach(point -> {
                values.put(
                        metric.getName() + ".exponential" + text(point.getAttributesList()), (double) point.getCount());
            });
        }
        return values;
    }

    public static List<Metric> metrics(ExportMetricsServiceRequest push) {
        return push.getResourceMetricsList().stream()
                .flatMap(resource -> resource.getScopeMetricsList().stream())
                .flatMap(scope -> scope.getMetricsList().stream())
                .toList();
    }

    /** The attributes of the one resource of the last push. */
    Map<String, String> resource() {
        List<Resource> resources = taken.getLast().getResourceMetricsList().stream()
                .map(ResourceMetrics::getResource)
                .distinct()
                .toList();
        if (resources.size() != 1) {
            throw new AssertionError(resources.toString());
        }
        Map<String, String> attributes = new TreeMap<>();
        resources.getFirst().getAttributesList().forEach(each -> attributes.put(each.getKey(), text(each.getValue())));
        return attributes;
    }

    private static String text(List<KeyValue> attributes) {
        if (attributes.isEmpty()) {
            return "";
        }
        Map<String, String> sorted = new TreeMap<>();
        attributes.forEach(each -> sorted.put(each.getKey(), text(each.getValue())));
        return sorted.toString();
    }

    private static String text(AnyValue value) {
        return switch (value.getValueCase()) {
            case STRING_VALUE -> value.getStringValue();
            case INT_VALUE -> String.valueOf(value.getIntValue());
            case BOOL_VALUE -> String.valueOf(value.getBoolValue());
            case DOUBLE_VALUE -> String.valueOf(value.getDoubleValue());
            default -> value.toString();
        };
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
