package io.bpf4j.trace;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.usdt.UsdtBinary;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtArg;
import io.bpf4j.usdt.site.UsdtSite;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A probe of provider {@code db} with one site, in a file that does not exist. */
final class SampleProbe {
    static final UsdtArg WIDE = UsdtArg.unsigned(8, new UsdtArg.Register("rax"));
    static final UsdtArg SIGNED = UsdtArg.signed(8, new UsdtArg.Register("rax"));

    private static final UsdtBinary BINARY = UsdtBinary.of(Path.of("/x"), Machine.X86_64, new FileIdentity(1, 2, 3, 4));

    private SampleProbe() {}

    static UsdtProbe of(String name, UsdtArg... args) {
        return UsdtProbe.of(BINARY, "db", name, List.of(UsdtSite.at(1, 1).withArguments("", List.of(args), Map.of())));
    }
}
