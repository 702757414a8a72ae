/**
 * Names the functions of stacks, and shows many stacks at once. {@link io.bpf4j.trace.stack.Symbolizer} names the
 * frames of one stack. {@link io.bpf4j.trace.stack.StackCounts} counts stacks and writes them as folded lines or as a
 * flame graph.
 *
 * {@snippet lang = "java":
 * try (BpfObject object = BpfLoader.of(ObjectSpec.read(Path.of("stacks.bpf.o"))).load();
 *         LinkGroup _ = object.attachAll();
 *         Symbolizer symbolizer = Symbolizer.of(Host.running())) {
 *     Thread.sleep(10_000);
 *     TypedMap<Integer, Long> counts = TypedMap.of(object.map("counts"), Codec.ofInt(), Codec.ofLong()); // by stack ID
 *     StackTraceMap stacks = StackTraceMap.of(object.map("stacks"));
 *     StackCounts flames = StackCounts.create();
 *     counts.forEach((id, count) -> stacks.get(id).ifPresent(stack ->
 *             flames.add("process 4711", symbolizer.user(4711, stack), List.of(), count)));
 *     flames.folded(System.out);
 * }
 * }
 */
package io.bpf4j.trace.stack;
