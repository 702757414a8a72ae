package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GoBuildTest {
    private static GoBuild build(@Nullable String version) {
        return new GoBuild(Optional.ofNullable(version));
    }

    @ParameterizedTest
    @CsvSource({
        "main.f, true",
        "runtime.mallocgc, true",
        "example.com/shop.(*Cart).Add, true",
        "main.main.func1, true",
        "crosscall2, false",
        "_cgo_init, false",
        "fputs.constprop.0, false",
        "helper.isra.0.cold, false"
    })
    void goFunctionsHaveThePathOfTheirPackage(String symbol, boolean isGo) {
        assertThat(build("go1.22.5").isGoFunction(symbol)).isEqualTo(isGo);
    }

    @ParameterizedTest
    @CsvSource({
        "go1.16.15, false",
        "go1.17, true",
        "go1.19.8, true",
        "go1.22.5 X:nocoverageredesign, true",
        "devel go1.24-a1b2, true"
    })
    void registersSince117(String version, boolean registers) {
        assertThat(build(version).takesRegisters("main.f")).isEqualTo(registers);
        assertThat(build(version).takesRegisters("syscall.Syscall6.abi0")).isFalse();
    }

    @Test
    void anUnknownVersionTakesNone() {
        assertThat(build(null).takesRegisters("main.f")).isFalse();
        assertThat(build("gccgo").takesRegisters("main.f")).isFalse();
    }
}
