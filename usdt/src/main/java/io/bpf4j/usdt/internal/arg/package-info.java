/**
 * The language of argument strings: from {@code -4@-20(%rbp) 8@%rax} to a {@link io.bpf4j.usdt.site.UsdtArg} each. Pure
 * text; knows neither files nor kernels. Nothing in here throws on any input: what can't be read is an {@link
 * io.bpf4j.usdt.site.UsdtArg.Unsupported} that says why.
 */
package io.bpf4j.usdt.internal.arg;
