package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThatCode;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.objects.BpfObjects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the program counts of each gap is tested by GapsOnKernelTest and others. */
class GapTest {
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "STILL_OPEN")
    void theProgramHasTheVariableOfAGap(Gap gap) {
        BpfLoader loader = BpfLoader.of(ObjectSpec.parse("question.bpf.o", BpfObjects.question()));
        assertThatCode(() -> loader.global(gap.variable, 0)).doesNotThrowAnyException();
    }
}
