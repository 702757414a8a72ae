/**
 * The description of a site: its addresses, its code, and the locations of its arguments.
 *
 * <p>The grammars of argument strings work on text only, without files or kernels. No parser throws for any input: an
 * argument that can't be read is an {@link io.bpf4j.usdt.site.UsdtArg.Unsupported} with the reason.
 */
package io.bpf4j.usdt.site;
