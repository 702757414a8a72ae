package io.bpf4j.usdt;

import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.Specs;
import io.bpf4j.sys.ScriptedHost;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtArg;
import io.bpf4j.usdt.site.UsdtSite;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Objects and probes for tests over {@link ScriptedKernel}: nothing behind them is real. */
final class ScriptedUsdt {
    private static final String IP_MAP = "__bpf_usdt_ip_to_spec_id";

    private ScriptedUsdt() {}

    /** An object with a program {@code on} and the maps of usdt.bpf.h, on a kernel that lacks some features. */
    static BpfObject load(ScriptedKernel kernel, int specs, Feature... missing) {
        ObjectSpec spec = object(List.of(
                MapSpec.of("__bpf_usdt_specs", MapType.ARRAY, 4, 208, specs),
                MapSpec.of(IP_MAP, MapType.HASH, 8, 4, 4 * specs)));
        return BpfLoader.of(spec)
                .host(ScriptedHost.of(kernel))
                .features(features(missing))
                .load();
    }

    static ObjectSpec object(List<MapSpec> maps) {
        FunctionSpec function = Specs.function(
                "on",
                3,
                "usdt",
                0,
                false,
                List.of(new Instruction(0xb7, 0, 0, 0, 0), new Instruction(0x95, 0, 0, 0, 0)));
        ProgramSpec program = ProgramSpec.of("usdt", function);
        return Specs.object(
                "test.bpf.o",
                ByteOrder.nativeOrder(),
                List.of(program),
                List.of(function),
                maps,
                List.of(),
                Optional.empty());
    }

    static Features features(Feature... missing) {
        List<Feature> none = List.of(missing);
        return Features.of(f -> none.contains(f) ? new Support.Absent("not there") : new Support.Present("there"));
    }

    /** The keys of the IP map. */
    static List<byte[]> addresses(BpfObject object) {
        BpfMap map = object.map(IP_MAP);
        List<byte[]> keys = new ArrayList<>();
        map.keys().forEach(keys::add);
        return keys;
    }

    /** A probe of a program at a fixed address, with a site for each string of arguments. */
    static UsdtProbe probe(String path, String name, String... arguments) {
        return probeAt(0x1000, path, name, arguments);
    }

    /** The same, from a file offset on; a site each byte. */
    static UsdtProbe probeAt(long offset, String path, String name, String... arguments) {
        UsdtBinary binary = new UsdtBinaryData(
                Path.of(path), path, Machine.X86_64, true, ScriptedKernel.UNKNOWN_FILE, Optional.empty());
        List<UsdtSite> sites = new ArrayList<>();
        for (String text : arguments) {
            long at = offset + sites.size();
            sites.add(
                    UsdtSite.at(0x400000 + at, at).withArguments(text, UsdtArg.parse(Machine.X86_64, text), Map.of()));
        }
        return UsdtProbe.of(binary, "p", name, sites);
    }
}
