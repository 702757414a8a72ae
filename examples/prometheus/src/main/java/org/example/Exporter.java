package org.example;

import io.bpf4j.metrics.AnswerMetric;
import io.bpf4j.metrics.prometheus.AnswerCollector;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Question;
import io.bpf4j.usdt.UsdtScan;
import io.prometheus.metrics.exporter.httpserver.HTTPServer;
import io.prometheus.metrics.model.registry.PrometheusRegistry;

/**
 * The pauses of a JVM's garbage collections as a histogram for Prometheus, at {@code http://localhost:PORT/metrics}. The
 * kernel counts; each scrape reads the counts. The JVM that is measured needs no agent and no option.
 *
 * <pre>java -jar target/prometheus.jar PID PORT</pre>
 */
public class Exporter {
    public static void main(String[] args) throws Exception {
        UsdtScan jvm = UsdtScan.ofProcess(Integer.parseInt(args[0]));
        AnswerMetric metric = AnswerMetric.named("jvm_gc_pause")
                .withHelp("How long garbage collections took, as the kernel has measured it.")
                .withLabel("begin.full", "full");
        try (Answer pauses = Question.on(jvm.matching("hotspot:gc__*"))
                        .latency("gc__begin", "gc__end")
                        .by("begin.full")
                        .open();
                HTTPServer server = HTTPServer.builder()
                        .hostname("localhost")
                        .port(Integer.parseInt(args[1]))
                        .buildAndStart()) {
            PrometheusRegistry.defaultRegistry.register(new AnswerCollector(pauses, metric));
            System.out.println("listening at port " + server.getPort());
            pauses.await();
        }
    }
}
