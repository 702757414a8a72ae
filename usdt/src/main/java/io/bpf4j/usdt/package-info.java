/**
 * USDT probes: find them ({@link io.bpf4j.usdt.UsdtScan}), attach BPF programs to them ({@link io.bpf4j.usdt.Usdt}),
 * read their arguments ({@link io.bpf4j.usdt.site.UsdtArg}).
 *
 * {@snippet lang = "java":
 * UsdtScan jvm = UsdtScan.ofProcess(4711);
 * jvm.probes().forEach(probe -> System.out.println(probe.fullName()));
 * try (BpfObject object = BpfLoader.of(ObjectSpec.read(Path.of("threads.bpf.o"))).load();
 *         UsdtLink link = Usdt.of(object).attach(object.program("on_start"), jvm.matching("hotspot:thread__start"));
 *         RingBuffer threads = RingBuffer.open(object.map("threads"))) {
 *     System.out.println(link.siteCount() + " sites by " + link.strategy().description());
 *     threads.poll(Duration.ofSeconds(10), Codec.ofLong(), thread -> System.out.println(thread));
 * }
 * }
 *
 * <p>A probe is a {@code nop} in the code and a note about it in the file. The steps from the note to a value in a BPF
 * program:
 *
 * <ol>
 *   <li>the note ({@code .note.stapsdt}): provider, name, address, semaphore, argument string;
 *   <li>a {@linkplain io.bpf4j.usdt.site.UsdtSite site}: the same with file offsets, which the kernel takes, and parsed
 *       arguments;
 *   <li>a spec: the arguments in the binary form that libbpf's {@code usdt.bpf.h} interprets in the kernel, stored in
 *       the map {@code __bpf_usdt_specs} under a spec ID;
 *   <li>an attachment: a breakpoint at the file offset with the spec ID in its BPF cookie;
 *   <li>the value: {@code bpf_usdt_arg()} finds the spec by the cookie and reads the register or memory.
 * </ol>
 */
package io.bpf4j.usdt;
