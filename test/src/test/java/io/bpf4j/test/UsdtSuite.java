package io.bpf4j.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.test.support.Args12Event;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.usdt.Options;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * What the USDT suites share. Each of them runs three times, once per strategy, with the same expectations: how a program
 * is attached must not show in what it sees.
 */
abstract class UsdtSuite {
    static final String IP_MAP = "__bpf_usdt_ip_to_spec_id";

    final Strategy strategy;

    UsdtSuite(Strategy strategy) {
        this.strategy = strategy;
    }

    /** One of our objects, loaded for this strategy; its programs look at one process only, or at all if 0. */
    BpfObject load(String name, int pid) {
        return strategy.loader(name, pid).load();
    }

    /** Attaches the only program of an object to what a pattern finds in a file. */
    UsdtLink attach(BpfObject object, Path file, String pattern, Options options) throws IOException {
        return attachAll(object, UsdtProbe.inFile(file, pattern), options);
    }

    /** Attaches the only program of an object. */
    UsdtLink attachAll(BpfObject object, List<UsdtProbe> probes, Options options) {
        UsdtLink link = Usdt.of(object).attachAll(object.programs().iterator().next(), probes, options);
        assertThat(link.strategy().name()).as(link.reasons().toString()).isEqualTo(strategy.name());
        assertThat(link.isClosed()).isFalse();
        return link;
    }

    static Options in(TargetProgram target) {
        return Options.defaults().pid(target.pid());
    }

    static List<Args12Event> events(RingBuffer ring) {
        return Bpf.recordsNow(ring).stream().map(Args12Event::of).toList();
    }

    static long total(BpfObject object) {
        return Bpf.u64(object, "total");
    }

    /** The library with probes of its own, loaded into a target. */
    static Path loadLibrary(TargetProgram target, String... flags) throws IOException {
        Path library = library(flags);
        assertThat(target.command("load " + library)).isEqualTo("ok");
        return library;
    }

    static Path library(String... flags) {
        String[] all = new String[flags.length + 3];
        System.arraycopy(new String[] {"-O2", "-shared", "-fPIC"}, 0, all, 0, 3);
        System.arraycopy(flags, 0, all, 3, flags.length);
        return CPrograms.compile("library", all);
    }

    static int sites(List<UsdtProbe> probes) {
        return probes.stream()
                .map(UsdtProbe::sites)
                .mapToInt(List<UsdtSite>::size)
                .sum();
    }

    /** What a closed link, and a failed attach, leave in the object: nothing. */
    static void assertNothingLeft(BpfObject object) {
        assertThat(Usdt.of(object).specIdsInUse()).isZero();
        assertThat(object.map(IP_MAP).keys()).isEmpty();
    }
}
