package io.bpf4j.usdt.internal.spec;

import java.util.List;

/**
 * What a BPF program has to know about a site that fired. <b>Immutable</b>.
 *
 * @param args in order, at most {@link SpecLayout#maxArgs()}
 * @param cookie what {@code bpf_usdt_cookie()} returns
 */
public record UsdtSpec(List<ArgSpec> args, long cookie) {
    public UsdtSpec {
        args = List.copyOf(args);
    }
}
