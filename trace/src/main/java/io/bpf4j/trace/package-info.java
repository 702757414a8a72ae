/**
 * Questions about running programs, compiled to BPF: the program counts and sums in the kernel, and Java reads the
 * result; or it passes on events, with the values of expressions or with all arguments.
 *
 * {@snippet lang = "java":
 * UsdtScan jvm = UsdtScan.ofProcess(4711);
 * try (Answer pauses = Question.on(jvm.matching("hotspot:gc__*")).latency("gc__begin", "gc__end").open()) {
 *     Thread.sleep(10_000);
 *     for (Answer.Row row : pauses.rows()) {
 *         System.out.println(row.count() + " pauses, 99 % of them up to " + row.distribution().orElseThrow().quantile(0.99) + " ns");
 *     }
 *     pauses.gaps().forEach((gap, events) -> System.err.println(events + " " + gap.text()));
 * }
 * }
 */
package io.bpf4j.trace;
