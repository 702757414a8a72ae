package io.bpf4j.usdt;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtSite;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class MissingProbeTest {
    private static final Path PATH = Path.of("/usr/lib/libx.so");

    @Test
    void noNotesAtAll() {
        assertThat(diagnose(scan(), "a:b")).isEqualTo("no USDT probes in /usr/lib/libx.so");
    }

    @Test
    void notesThatWereAllBroken() {
        UsdtScan scan = scan(PATH, List.of(leftOut("a:c", "/usr/lib/libx.so: bad note"), leftOut("a:d", "another")));
        assertThat(diagnose(scan, "a:b")).isEqualTo("no USDT probes in /usr/lib/libx.so: bad note");
    }

    @Test
    void aJvmWithoutProbesIsExplained() {
        UsdtScan jvm = scan(Path.of("/opt/jdk/lib/server/libjvm.so"), List.of());
        assertThat(diagnose(jvm, "hotspot:*")).contains("built without them");
        UsdtScan launcher = scan(Path.of("/opt/jdk/bin/java"), List.of());
        assertThat(diagnose(launcher, "hotspot:*")).contains("lib/server/libjvm.so");
    }

    @Test
    void otherProviders() {
        assertThat(diagnose(scan("hotspot:gc__begin", "libjvm:x"), "hotpot:gc__begin"))
                .contains("no probe hotpot:gc__begin", "no provider 'hotpot'", "hotspot, libjvm");
    }

    @Test
    void theNearestName() {
        assertThat(diagnose(scan("hotspot:gc__begin", "hotspot:gc__end", "hotspot:thread__start"), "hotspot:gc_begin"))
                .contains("the nearest is hotspot:gc__begin");
    }

    @Test
    void aProbeWhoseSitesAreLeftOut() {
        UsdtScan scan = UsdtScan.join(
                List.of(scan("a:used"), scan(Path.of("/bin/x"), List.of(leftOut("a:b", "/bin/x: a:b is nowhere")))));
        assertThat(diagnose(scan, "a:b")).isEqualTo("no probe a:b that can be used: /bin/x: a:b is nowhere");
        assertThat(diagnose(scan, "a:use")).contains("the nearest is a:used");
        assertThat(diagnose(scan, "a:c")).contains("among the 1 of that provider; it has a:used");
    }

    private static Diagnostic leftOut(String subject, String message) {
        return new Diagnostic(Diagnostic.Kind.LEFT_OUT, subject, message);
    }

    private static String diagnose(UsdtScan scan, String pattern) {
        return scan.matching(pattern).whyNone();
    }

    private static UsdtScan scan(Path path, List<Diagnostic> problems) {
        return UsdtScan.of(List.of(new UsdtScan.File(path, path.toString(), List.of(), List.of(), problems)));
    }

    private static UsdtScan scan(String... names) {
        UsdtBinary binary = UsdtBinary.of(PATH, Machine.X86_64, new FileIdentity(1, 2, 3, 4));
        UsdtSite site = UsdtSite.at(0x1000, 0x1000);
        return UsdtScan.of(List.of(new UsdtScan.File(
                PATH,
                PATH.toString(),
                Stream.of(names)
                        .map(n -> n.split(":", 2))
                        .map(n -> UsdtProbe.of(binary, n[0], n[1], List.of(site)))
                        .toList(),
                List.of(),
                List.of())));
    }
}
