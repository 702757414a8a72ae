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
import io.bpf4j.loader.link.Kprobe;
import io.bpf4j.loader.link.KprobeMulti;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.RawTracepoint;
import io.bpf4j.loader.link.Tracepoint;
import io.bpf4j.loader.link.Tracing;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;
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
            throws Exception {
        assertFires(target, object, link, "syscall 10", timesACall);
    }

    /** A command that makes ten calls. */
    private static void assertFires(TargetProgram target, BpfObject object, Link link, String command, int timesACall)
            throws Exception {
        Bpf.awaitCounted(object, "hits", 10L * timesACall, () -> target.command(command));
        link.close();
        Bpf.awaitNotCounted(object, "hits", () -> target.command(command));
    }

    private static void assertFiresBySection(String program, int timesACall) throws Exception {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load(target, program);
                Link link = object.program(program).attach()) {
            assertFires(target, object, link, timesACall);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"on_kprobe", "on_kretprobe", "on_ksyscall", "on_kretsyscall"})
    @Requires(KPROBES)
    void kprobesBySection(String program) throws Exception {
        assertFiresBySection(program, 1);
    }

    @Test
    @Requires(KPROBES)
    void aKprobeHasItsCookieAndIsNamedWhenItIsMissing() throws Exception {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load(target, "on_kprobe");
                Link link =
                        object.program("on_kprobe").attach(Kprobe.entry(GETPPID).withCookie(0xbeef))) {
            assertThat(link.info().typeNumber()).as("BPF_LINK_TYPE_PERF_EVENT").isEqualTo(7);
            assertFires(target, object, link, 1);
            assertThat(Bpf.u64(object, "cookie")).isEqualTo(0xbeef);
            assertThatThrownBy(() -> object.program("on_kprobe").attach(Kprobe.entry("no_such_function")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("no_such_function");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"on_kprobe", "on_kretprobe"})
    @Requires(KPROBES)
    void aKprobeByAddress(String program) throws Exception {
        long address = address(GETPPID);
        boolean returns = program.equals("on_kretprobe");
        Kprobe kprobe = returns ? Kprobe.exit(address) : Kprobe.entry(address);
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load(target, program);
                Link link = object.program(program).attach(kprobe.withCookie(0xbeef))) {
            if (link.info().detail() instanceof LinkDetail.Kprobe detail) { // before 6.6 the kernel tells less
                // The kernel puts the probe behind an endbr64 of 4 bytes, the target of indirect calls.
                assertThat(detail.address()).isIn(address, address + 4);
            }
            assertFires(target, object, link, 1);
            assertThat(Bpf.u64(object, "cookie")).isEqualTo(returns ? 0 : 0xbeef);
            assertThatThrownBy(() -> object.program(program).attach(Kprobe.entry(0x1000)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("kprobe at 0x1000");
        }
        assertThatThrownBy(() -> Kprobe.entry(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("kptr_restrict");
    }

    /** Before Linux 6.7 the kernel took the first of them; a session needs 6.10. */
    @Test
    @Requires({KPROBES, KPROBE_SESSION})
    void aNameOfSeveralFunctionsIsRefused() throws IOException {
        Set<String> seen = new HashSet<>();
        String twice = functions()
                .map(line -> line[2])
                .filter(name -> !seen.add(name))
                .findFirst()
                .orElseThrow();
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load(target, "on_kprobe")) {
            assertThatThrownBy(() -> object.program("on_kprobe").attach(Kprobe.entry(twice)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining(twice)
                    .hasMessageContaining("several functions");
        }
    }

    @Test
    @Requires(KPROBE_MULTI)
    void manyKprobesByAddress() throws Exception {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load(target, "on_kprobes");
                Link link = object.program("on_kprobes")
                        .attach(KprobeMulti.entry(address("__x64_sys_getuid"), address(GETPPID))
                                .withCookies(1, 2))) {
            assertFires(target, object, link, 1);
            assertThat(Bpf.u64(object, "cookie")).isEqualTo(2);
            assertThatThrownBy(() -> object.program("on_kprobes").attach(KprobeMulti.entry(0x1000)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("0x1000");
        }
    }

    /** Address, type and name of the kernel's own functions. */
    private static Stream<String[]> functions() throws IOException {
        return Files.readAllLines(Path.of("/proc/kallsyms")).stream()
                .map(line -> line.split("\\s+"))
                .filter(line -> line.length == 3 && line[1].equalsIgnoreCase("t"));
    }

    static long address(String function) throws IOException {
        return functions()
                .filter(line -> line[2].equals(function))
                .mapToLong(line -> Long.parseUnsignedLong(line[0], 16))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(strings = {"on_kprobes", "on_kprobes_return"})
    @Requires(KPROBE_MULTI)
    void manyKprobesBySection(String program) throws Exception {
        assertFiresBySection(program, 1);
    }

    @Test
    @Requires(KPROBE_MULTI)
    void manyKprobesByName() throws Exception {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load(target, "on_kprobes");
                Link link = object.program("on_kprobes")
                        .attach(KprobeMulti.entry("__x64_sys_getuid", GETPPID).withCookies(1, 2))) {
            assertThat(link.info().typeNumber())
                    .as("BPF_LINK_TYPE_KPROBE_MULTI")
                    .isEqualTo(8);
            assertFires(target, object, link, 1);
            assertThat(Bpf.u64(object, "cookie")).isEqualTo(2);
            assertThatThrownBy(() -> object.program("on_kprobes").attach(KprobeMulti.entry("no_such_function*")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("no_such_function*");
            assertThatThrownBy(() -> object.program("on_kprobes").attach(KprobeMulti.entry("no_such_function")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("no_such_function");
        }
    }

    @Test
    @Requires({KPROBE_MULTI, TRACEFS})
    void aPatternThatStandsForOneFunction() throws Exception {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load(target, "on_kprobes");
                Link link = object.program("on_kprobes")
                        .attach(KprobeMulti.entry("__*64_sys_wait4")
                                .withUniqueMatch()
                                .withCookies(3))) {
            assertFires(target, object, link, "fork 10", 1);
            assertThat(Bpf.u64(object, "cookie")).isEqualTo(3);
            assertThatThrownBy(() -> object.program("on_kprobes")
                            .attach(KprobeMulti.entry("__x64_sys_get*").withUniqueMatch()))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("\"__x64_sys_get*\" must stand for one function")
                    .hasMessageContaining("__x64_sys_getpgid");
        }
    }

    @Test
    @Requires(KPROBE_SESSION)
    void aSessionFiresOnEntryAndOnReturn() throws Exception {
        assertFiresBySection("on_kprobe_session", 2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"on_entry", "on_exit"})
    @Requires(FENTRY)
    void functionsBySection(String program) throws Exception {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load(target, program);
                Link link = object.program(program).attach()) {
            assertFires(target, object, link, "fork 10", 1);
        }
    }

    @Test
    @Requires({FENTRY, TRACING_COOKIE})
    void aFunctionHasItsCookie() throws Exception {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load(target, "on_entry");
                Link link = object.program("on_entry").attach(Tracing.asLoaded().withCookie(77))) {
            assertThat(link.info().typeNumber()).as("BPF_LINK_TYPE_TRACING").isEqualTo(2);
            assertFires(target, object, link, "fork 10", 1);
            assertThat(Bpf.u64(object, "cookie")).isEqualTo(77);
        }
    }

    @Test
    @Requires(KERNEL_BTF)
    void aTypedTracepointBySection() throws Exception {
        assertFiresBySection("on_sys_enter", 1);
    }

    @Test
    @Requires(RAW_TRACEPOINT_COOKIE)
    void aRawTracepointHasItsCookie() throws Exception {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load(target, "on_raw_sys_enter");
                Link link = object.program("on_raw_sys_enter")
                        .attach(RawTracepoint.of("sys_enter").withCookie(55))) {
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
    void aTracepointHasItsCookie() throws Exception {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load(target, "on_fork");
                Link link = object.program("on_fork")
                        .attach(Tracepoint.of("sched", "sched_process_fork").withCookie(33))) {
            assertFires(target, object, link, "fork 10", 1);
            assertThat(Bpf.u64(object, "cookie")).isEqualTo(33);
        }
    }
}
