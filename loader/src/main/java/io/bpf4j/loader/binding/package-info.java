/**
 * Types for the classes that {@code bpf4j generate} writes: views and codecs of structs, maps of events, and the
 * comparison of an object with its class.
 *
 * {@snippet lang = "java":
 * // Gc is the class that "bpf4j generate gc.bpf.o" writes.
 * UsdtScan jvm = UsdtScan.ofProcess(4711);
 * try (Gc gc = Gc.open().load();
 *         Link _ = Usdt.of(gc.object()).attach(gc.gcBegin(), jvm.matching("hotspot:gc__begin"));
 *         Link _ = Usdt.of(gc.object()).attach(gc.gcEnd(), jvm.matching("hotspot:gc__end"));
 *         EventMap.Reader pauses = gc.pauses().open(pause -> System.out.println(pause.durationNs()))) {
 *     pauses.pollFor(Duration.ofSeconds(10));
 * }
 * }
 */
@org.jspecify.annotations.NullMarked
package io.bpf4j.loader.binding;
