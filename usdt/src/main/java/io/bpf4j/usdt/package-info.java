/**
 * USDT probes: find them ({@link io.bpf4j.usdt.UsdtProbe}), attach BPF programs to them ({@link
 * io.bpf4j.usdt.Usdt}), understand their arguments ({@link io.bpf4j.usdt.UsdtArg}).
 *
 * <p>A probe is a {@code nop} in the code and a note about it in the file. The way from there to a value in a BPF
 * program:
 *
 * <ol>
 *   <li>the note ({@code .note.stapsdt}): provider, name, address, semaphore, argument string;
 *   <li>a {@linkplain io.bpf4j.usdt.UsdtSite site}: the same with file offsets, which is what the kernel wants, and
 *       arguments that are understood;
 *   <li>a spec: the arguments in the binary form that libbpf's {@code usdt.bpf.h} interprets in the kernel, put into
 *       the map {@code __bpf_usdt_specs} under a number;
 *   <li>an attachment: a breakpoint at the file offset that carries this number as its BPF cookie;
 *   <li>the value: {@code bpf_usdt_arg()} takes the cookie, finds the spec, reads register or memory.
 * </ol>
 */
package io.bpf4j.usdt;
