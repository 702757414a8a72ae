package io.bpf4j.usdt.internal.section;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UsdtSectionTest {

    @Test
    void theProbeFollowsTheLastTwoColons() {
        assertThat(UsdtSection.parse("/usr/lib/libjvm.so:hotspot:gc__begin"))
                .hasValue(new UsdtSection("/usr/lib/libjvm.so", "hotspot", "gc__begin"));
        assertThat(UsdtSection.parse("/odd:path/x:p:n")).hasValue(new UsdtSection("/odd:path/x", "p", "n"));
        assertThat(UsdtSection.parse("libc.so.6:libc:setjmp")).hasValue(new UsdtSection("libc.so.6", "libc", "setjmp"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "path", "path:provider", ":provider:name", "path::name", "path:provider:", "::", ":"})
    void anythingElseIsNoTarget(String target) {
        assertThat(UsdtSection.parse(target)).isEmpty();
    }

    @Test
    void theLoaderFindsTheAttacher() {
        assertThat(ServiceLoader.load(io.bpf4j.loader.SectionAttacher.class))
                .anyMatch(UsdtSectionAttacher.class::isInstance);
    }
}
