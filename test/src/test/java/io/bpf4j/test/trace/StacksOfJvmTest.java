package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.BPF;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.link.AttachTarget.Uprobe;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.map.StackTraceMap;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.CallsJvm;
import io.bpf4j.test.support.ChildJvm;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.trace.stack.Frame;
import io.bpf4j.trace.stack.PerfMap;
import io.bpf4j.trace.stack.Symbolizer;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Stacks of a JVM: compiled methods by the JVM's own list, functions of libjvm by its symbols. */
@ExtendWith(LeakCheck.class)
@Timeout(120)
class StacksOfJvmTest {
    /** Compiled code calls it directly, without leaving Java. */
    private static final String PROBED = "_ZN2os13javaTimeNanosEv";

    @Test
    @Requires(BPF)
    void compiledMethodsAreNamed() throws IOException, InterruptedException {
        try (CallsJvm jvm = new CallsJvm();
                BpfObject object = Bpf.load("stack_traces.bpf.o", l -> Bpf.only(l, jvm.pid()));
                Symbolizer symbolizer = Symbolizer.of(Host.running())) {
            try (Link _ = object.program("take_user").attach(Uprobe.entry(ChildJvm.libjvm(), PROBED))) {
                jvm.command("again");
                jvm.command("again");
            }
            PerfMap.request(jvm.pid());
            StackTraceMap stacks = StackTraceMap.of(object.map("stacks"));
            // Other threads of the JVM ask for the time, too.
            List<List<Frame>> named = stacks.ids().stream()
                    .map(id -> symbolizer.user(jvm.pid(), stacks.get(id).orElseThrow()))
                    .toList();
            assertThat(named).anySatisfy(stack -> {
                assertThat(stack.getFirst().function()).isEqualTo("os::javaTimeNanos");
                assertThat(stack.getFirst().module()).endsWith("/libjvm.so");
                assertThat(stack)
                        .filteredOn(f -> f.source() == Frame.Source.PERF_MAP)
                        .extracting(Frame::function)
                        .anySatisfy(name -> assertThat(name).contains("CallsMain.outerCall"))
                        .anySatisfy(name -> assertThat(name).contains("Interpreter"));
                assertThat(stack)
                        .extracting(Frame::function)
                        .anySatisfy(name -> assertThat(name).startsWith("JavaCalls::call_helper"));
            });
            assertThat(symbolizer.problems()).isEmpty();
        }
    }

    @Test
    void onlyAJvmIsAsked() throws IOException, InterruptedException {
        Process other = new ProcessBuilder("sleep", "600").start();
        try {
            assertThatThrownBy(() -> PerfMap.request(Math.toIntExact(other.pid())))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("is not a HotSpot JVM");
            assertThat(other.isAlive()).isTrue();
            assertThatThrownBy(() -> PerfMap.request(Integer.MAX_VALUE)).isInstanceOf(IOException.class);
        } finally {
            other.destroyForcibly().waitFor();
        }
    }

    @Test
    void aJvmThatIsGoneIsNamed() throws IOException {
        int pid;
        try (CallsJvm jvm = new CallsJvm()) {
            pid = jvm.pid();
        }
        assertThatThrownBy(() -> PerfMap.request(pid))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("" + pid);
    }
}
