package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.TracingMulti;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tracing programs at many functions, and at both ends of one: the functions that serve getpgid(2) and its like. */
@Requires({Requirement.BPF, Requirement.FENTRY})
@ExtendWith(LeakCheck.class)
class TracingManyOnKernelTest {
    private static final MethodHandle GETPGID = getpgid();

    @SuppressWarnings("restricted") // the library asks the kernel each time
    private static MethodHandle getpgid() {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow("getpgid"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    }

    private static BpfObject load(String program) {
        int self = (int) ProcessHandle.current().pid();
        return Bpf.load(
                "tracing_many.bpf.o", loader -> Bpf.only(loader, self).program(program, p -> p.withAutoload(true)));
    }

    private static void callThreeTimes() {
        for (int i = 0; i < 3; i++) {
            assertThat(ownGroup()).isNotNegative();
        }
    }

    private static int ownGroup() {
        try {
            return (int) GETPGID.invokeExact(0);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Others of the JVM's own threads may ask for its number meanwhile. */
    @ParameterizedTest
    @Requires(Requirement.TRACING_MULTI)
    @CsvSource({"on_entry, entries, 1", "on_exit, exits, 1", "on_both, both, 2"})
    void aPatternIsAttachedByName(String program, String counter, int timesPerCall) throws Exception {
        try (BpfObject object = load(program)) {
            try (Link link = object.program(program).attach()) {
                callThreeTimes();
                assertThat(Bpf.u64(object, counter)).isGreaterThanOrEqualTo(3L * timesPerCall);
                assertThat(link.info().typeNumber())
                        .as("BPF_LINK_TYPE_TRACING_MULTI")
                        .isEqualTo(15);
            }
            Bpf.awaitNotCounted(object, counter, TracingManyOnKernelTest::callThreeTimes);
        }
    }

    @ParameterizedTest
    @Requires(Requirement.TRACING_MULTI)
    @CsvSource({"sleepable_on_entry, entries, 3", "sleepable_on_exit, exits, 3", "sleepable_on_both, both, 6"})
    void oneThatMaySleepCountsExactly(String program, String counter, int expected) {
        try (BpfObject object = load(program);
                Link _ = object.program(program).attach()) {
            callThreeTimes();
            assertThat(Bpf.u64(object, counter)).isEqualTo(expected);
        }
    }

    @Test
    @Requires(Requirement.TRACING_MULTI)
    void eachFunctionHasItsCookie() {
        try (BpfObject object = load("on_entry")) {
            assertThat(object.program("on_entry").attachType()).contains(AttachType.TRACE_FENTRY_MULTI);
            try (Link _ = object.program("on_entry")
                    .attach(TracingMulti.of("__x64_sys_getsid", "__x64_sys_getpgid")
                            .withCookies(4, 5))) {
                callThreeTimes();
                assertThat(Bpf.u64(object, "cookies")).isEqualTo(555);
            }
        }
    }

    @ParameterizedTest
    @Requires(Requirement.TRACING_SESSION)
    @CsvSource({"on_session", "sleepable_on_session"})
    void aSessionRunsAtBothEnds(String program) {
        try (BpfObject object = load(program);
                Link _ = object.program(program).attach()) {
            callThreeTimes();
            assertThat(Bpf.u64(object, "session")).isEqualTo(6);
        }
    }
}
