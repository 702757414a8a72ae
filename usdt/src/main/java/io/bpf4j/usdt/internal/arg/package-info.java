/**
 * The language of argument strings: from {@code -4@-20(%rbp) 8@%rax} to a {@link io.bpf4j.usdt.site.UsdtArg} each.
 * Works on text only, without files or kernels. No parser throws for any input: an argument that can't be read is an
 * {@link io.bpf4j.usdt.site.UsdtArg.Unsupported} with the reason.
 */
package io.bpf4j.usdt.internal.arg;
