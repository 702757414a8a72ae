package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.FENTRY;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.KERNEL_BTF;
import static io.bpf4j.test.support.Requirement.KPROBES;
import static io.bpf4j.test.support.Requirement.KPROBE_MULTI;
import static io.bpf4j.test.support.Requirement.KPROBE_SESSION;
import static io.bpf4j.test.support.Requirement.RAW_TRACEPOINT_COOKIE;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.TRACEFS;
import static io.bpf4j.test.support.Requirement.TRACING_COOKIE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Functions and tracepoints of the kernel: each system call fires once, and a session's twice. */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H, ASSEMBLER})
@ExtendWith(LeakCheck.class)
@SuppressWarnings("try") // links are closed before the end of their block: nothing may fire after that
class KernelFunctionsOnKernelTest {
    private static final String GETPPID = "__x64_sys_getppid";

    private static BpfObject load(TargetProgram target, String program) {
        return Bpf.load("kernel.bpf.o", l -> Bpf.only(l.program(program, p -> p.withAutoload(true)), target.pid()));
    }

    private static void assertFires(TargetProgram target, BpfObject object, Link link, int timesACall)
            throws IOException {
        assertFires(target, object, link, "syscall 10", timesACall);
    }

    /** A command that makes ten calls. */
    private static void assertFires(TargetProgram target, BpfObject object, Link link, String command, int timesACall)
            throws IOException {
        target.command(command);
        assertThat(Bpf.u64(object, "hits")).isEqualTo(10L * timesACall);
        link.close();
        target.command(command);
        assertThat(Bpf.u64(object, "hits")).as("after the close").isEqualTo(10L * timesACall);
    }

    private static void assertFiresBySection(String program, int timesACall) throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load(target, program);
                Link link = object.program(program).attach()) {
            assertFires(target, object, link, timesACall);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"on_kprobe", "on_kretprobe", "on_ksyscall", "on_kretsyscall"})
    @Requires(KPROBES)
    void kprobesBySection(String program) throws IOException {
        assertFiresBySection(program, 1);
    }

    @Test
    @Requires(KPROBES)
    void aKprobeHasItsCookieAndIsNamedWhenItIsMissing() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load(target, "on_kprobe");
                Link link = object.program("on_kprobe")
                        .attach(AttachTarget.Kprobe.entry(GETPPID).withCookie(0xbeef))) {
            assertThat(link.info().typeNumber()).as("BPF_LINK_TYPE_PERF_EVENT").isEqualTo(7);
            assertFires(target, object, link, 1);
            assertThat(Bpf.u64(object, "cookie")).isEqualTo(0xbeef);
            assertThatThrownBy(() -> object.program("on_kprobe").attach(AttachTarget.Kprobe.entry("no_such_function")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("no_such_function");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"on_kprobes", "on_kprobes_return"})
    @Requires(KPROBE_MULTI)
    void manyKprobesBySection(String program) throws IOException {
        assertFiresBySection(program, 1);
    }

    @Test
    @Requires(KPROBE_MULTI)
    void manyKprobesByName() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load(target, "on_kprobes");
                Link link = object.program("on_kprobes")
                        .attach(AttachTarget.KprobeMulti.entry("__x64_sys_getuid", GETPPID)
                                .withCookies(1, 2))) {
            assertThat(link.info().typeNumber())
                    .as("BPF_LINK_TYPE_KPROBE_MULTI")
                    .isEqualTo(8);
            assertFires(target, object, link, 1);
            assertThat(Bpf.u64(object, "cookie")).isEqualTo(2);
            assertThatThrownBy(() ->
                            object.program("on_kprobes").attach(AttachTarget.KprobeMulti.entry("no_such_function*")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("no_such_function*");
            assertThatThrownBy(() ->
                            object.program("on_kprobes").attach(AttachTarget.KprobeMulti.entry("no_such_function")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("no_such_function");
        }
    }

    @Test
    @Requires(KPROBE_SESSION)
    void aSessionFiresOnEntryAndOnReturn() throws IOException {
        assertFiresBySection("on_kprobe_session", 2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"on_entry", "on_exit"})
    @Requires(FENTRY)
    void functionsBySection(String program) throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load(target, program);
                Link link = object.program(program).attach()) {
            assertFires(target, object, link, "fork 10", 1);
        }
    }

    @Test
    @Requires({FENTRY, TRACING_COOKIE})
    void aFunctionHasItsCookie() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load(target, "on_entry");
                Link link = object.program("on_entry")
                        .attach(AttachTarget.Tracing.asLoaded().withCookie(77))) {
            assertThat(link.info().typeNumber()).as("BPF_LINK_TYPE_TRACING").isEqualTo(2);
            assertFires(target, object, link, "fork 10", 1);
            assertThat(Bpf.u64(object, "cookie")).isEqualTo(77);
        }
    }

    @Test
    @Requires(KERNEL_BTF)
    void aTypedTracepointBySection() throws IOException {
        assertFiresBySection("on_sys_enter", 1);
    }

    @Test
    @Requires(RAW_TRACEPOINT_COOKIE)
    void aRawTracepointHasItsCookie() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load(target, "on_raw_sys_enter");
                Link link = object.program("on_raw_sys_enter")
                        .attach(AttachTarget.RawTracepoint.of("sys_enter").withCookie(55))) {
            assertThat(link.info().typeNumber())
                    .as("BPF_LINK_TYPE_RAW_TRACEPOINT")
                    .isEqualTo(1);
            assertThat(link.info().detail())
                    .isInstanceOfSatisfying(
                            LinkDetail.RawTracepoint.class,
                            raw -> assertThat(raw.name()).isEqualTo("sys_enter"));
            assertFires(target, object, link, 1);
            assertThat(Bpf.u64(object, "cookie")).isEqualTo(55);
        }
    }

    @Test
    @Requires(TRACEFS)
    void aTracepointHasItsCookie() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load(target, "on_fork");
                Link link = object.program("on_fork")
                        .attach(AttachTarget.Tracepoint.of("sched", "sched_process_fork")
                                .withCookie(33))) {
            assertFires(target, object, link, "fork 10", 1);
            assertThat(Bpf.u64(object, "cookie")).isEqualTo(33);
        }
    }
}
