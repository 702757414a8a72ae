package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChangedFilesTest {
    private static final Path LIBRARY = Path.of(System.getProperty("java.home"), "lib/server/libjvm.so");

    @TempDir
    Path folder;

    private final List<Diagnostic> leftOut = new ArrayList<>();
    private Path one = Path.of("");
    private List<UsdtProbe> probes = List.of();

    @BeforeEach
    void readTwoFiles() throws IOException {
        one = Files.copy(LIBRARY, folder.resolve("one.so"));
        Path other = Files.copy(LIBRARY, folder.resolve("other.so"));
        probes = UsdtScan.join(List.of(UsdtScan.ofFile(one), UsdtScan.ofFile(other)))
                .matching("hotspot:gc__begin")
                .probes();
        assertThat(probes).hasSize(2);
    }

    /** As the kernel does: to all files, or to none. */
    private static List<String> attach(List<UsdtProbe> some) {
        some.stream()
                .filter(probe -> Files.notExists(probe.binary().path()))
                .findFirst()
                .ifPresent(probe -> {
                    throw new BpfException("no file " + probe.binary().path());
                });
        return some.stream()
                .map(probe -> String.valueOf(probe.binary().path().getFileName()))
                .toList();
    }

    @Test
    void aFileThatHasVanishedIsLeftOut() throws IOException {
        Files.delete(one);
        assertThat(ChangedFiles.attachToOthers(probes, ChangedFilesTest::attach, leftOut::add))
                .containsExactly("other.so");
        assertThat(leftOut).singleElement().asString().startsWith(one + " is left out");
    }

    @Test
    void noFileIsAFailure() throws IOException {
        for (UsdtProbe probe : probes) {
            Files.delete(probe.binary().path());
        }
        assertThatExceptionOfType(BpfException.class)
                .isThrownBy(() -> ChangedFiles.attachToOthers(probes, ChangedFilesTest::attach, leftOut::add));
    }

    @Test
    void anotherReasonIsAFailure() {
        BpfException refused = new BpfException("no permission");
        assertThatExceptionOfType(BpfException.class)
                .isThrownBy(() -> ChangedFiles.attachToOthers(
                        probes,
                        _ -> {
                            throw refused;
                        },
                        leftOut::add))
                .isSameAs(refused);
        assertThat(leftOut).isEmpty();
    }
}
