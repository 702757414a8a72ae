package io.bpf4j.usdt.internal.section;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.usdt.internal.section.UsdtSectionAttacher.Target;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UsdtSectionAttacherTest {

    @Test
    void theProbeFollowsTheLastTwoColons() {
        assertThat(Target.parse("/usr/lib/libjvm.so:hotspot:gc__begin"))
                .hasValue(new Target("/usr/lib/libjvm.so", "hotspot", "gc__begin"));
        assertThat(Target.parse("/odd:path/x:p:n")).hasValue(new Target("/odd:path/x", "p", "n"));
        assertThat(Target.parse("libc.so.6:libc:setjmp")).hasValue(new Target("libc.so.6", "libc", "setjmp"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "path", "path:provider", ":provider:name", "path::name", "path:provider:", "::", ":"})
    void anythingElseIsNoTarget(String target) {
        assertThat(Target.parse(target)).isEmpty();
    }

    @Test
    void theLoaderFindsTheAttacher() {
        assertThat(ServiceLoader.load(io.bpf4j.loader.SectionAttacher.class))
                .anyMatch(UsdtSectionAttacher.class::isInstance);
    }
}
