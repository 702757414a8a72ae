package io.bpf4j.test.usdt;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.test.support.Args12Event;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.usdt.AttachOptions;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * What the USDT suites share. Each of them runs three times, once per strategy, with the same expectations: how a
 * program is attached must not show in what it sees.
 */
abstract class UsdtSuite {
    static final String SPECS = "__bpf_usdt_specs";
    static final String IP_MAP = "__bpf_usdt_ip_to_spec_id";

    /** What the arguments of target:sizes hold, but for two addresses at the end: every size and sign. */
    static final List<Long> SIZES = List.of(
            -5L,
            250L,
            -30000L,
            60000L,
            -2000000000L,
            4000000000L,
            -9000000000000000000L,
            Long.parseUnsignedLong("18000000000000000000"),
            42L,
            -7L);

    /** What those of target:memory hold. */
    static final List<Long> MEMORY = List.of(0L, 65003L, -99997L, 0x1122334455667788L + 3, 9L);

    /** What those of target:forms hold. */
    static final List<Long> FORMS = List.of(
            (long) (byte) 0xf0,
            0xf0L,
            (long) (short) 0xc3f0,
            0xc3f0L,
            (long) (int) 0x8765c3f0L,
            0x8765c3f0L,
            0x89abcdef8765c3f0L,
            -9L,
            0xfffffff0L, // target_words[5], base and index
            -102L,
            0xabcdef0123456789L,
            -4L);

    final Strategy strategy;

    UsdtSuite(Strategy strategy) {
        this.strategy = strategy;
    }

    /** One of our objects, loaded for this strategy; its programs look at one process only, or at all if 0. */
    BpfObject load(String name, int pid) {
        return strategy.loader(name, pid).load();
    }

    /** Attaches the only program of an object to what a pattern finds in a file. */
    UsdtLink attach(BpfObject object, Path file, String pattern, AttachOptions options) throws IOException {
        return attachAll(object, UsdtScan.ofFile(file).matching(pattern).probes(), options);
    }

    /** Attaches the only program of an object. */
    UsdtLink attachAll(BpfObject object, List<UsdtProbe> probes, AttachOptions options) {
        UsdtLink link = Usdt.of(object).attach(object.programs().iterator().next(), probes, options);
        assertThat(link.strategy().name()).as(link.reasons().toString()).isEqualTo(strategy.name());
        assertThat(link.isClosed()).isFalse();
        return link;
    }

    static AttachOptions in(TargetProgram target) {
        return AttachOptions.defaults().withPid(target.pid());
    }

    static List<Args12Event> events(RingBuffer ring) {
        return Bpf.recordsNow(ring).stream().map(Args12Event::of).toList();
    }

    static void requireSizes(Args12Event event) {
        assertThat(event.argCount()).isEqualTo(12);
        assertThat(event.results()).containsOnly(0L);
        assertThat(event.values().subList(0, SIZES.size())).isEqualTo(SIZES);
        assertThat(event.values().get(10)).as("address of \"hello\"").isNotZero();
        assertThat(event.values().get(11)).isZero();
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
