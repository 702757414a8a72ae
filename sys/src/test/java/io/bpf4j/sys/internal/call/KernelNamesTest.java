package io.bpf4j.sys.internal.call;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KernelNamesTest {
    @ParameterizedTest
    @CsvSource({
        "counts, counts",
        "a_very_long_name, a_very_long_nam",
        ".data.mine, .data.mine",
        "a-b c, a_b_c",
        "größe, gr____e",
        "größegrößegröße, gr____egr____eg",
        "'', ''"
    })
    void aNameIsCutAndCleanedByteByByte(String name, String kernels) {
        assertThat(KernelNames.of(name)).isEqualTo(kernels);
    }

    /** What libbpf names these maps. */
    @ParameterizedTest
    @CsvSource({
        "biolatency.bpf.o, .bss, biolaten.bss",
        "biolatency.bpf.o, .rodata, biolaten.rodata",
        "/usr/lib/x.o, .data, x.data",
        "noextension, .bss, noextens.bss",
        "biolatency.bpf.o, .data.mine, .data.mine",
        "biolatency.bpf.o, .kconfig, biolate.kconfig",
        ".o, .bss, .bss",
        "..bpf.o, .rodata, .rodata",
        "/usr/lib/.hidden.bpf.o, .data, .data",
        "größenmaß.bpf.o, .bss, gr____en.bss",
        "äöüäöü.bpf.o, .bss, ________.bss",
        "日本語.bpf.o, .bss, ________.bss",
        "ab日.bpf.o, .rodata, ab___.rodata"
    })
    void aMapOfGlobalDataIsNamedForObjectAndSection(String file, String section, String kernels) {
        assertThat(KernelNames.ofSection(file, section)).isEqualTo(kernels);
    }
}
