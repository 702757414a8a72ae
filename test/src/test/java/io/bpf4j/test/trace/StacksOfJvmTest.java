package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.BPF;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.loader.map.StackTraceMap;
import io.bpf4j.sys.Host;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.CallsJvm;
import io.bpf4j.test.support.ChildJvm;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.trace.stack.Frame;
import io.bpf4j.trace.stack.PerfMap;
import io.bpf4j.trace.stack.Symbolizer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Stacks of a JVM: compiled methods by the JVM's own list, functions of libjvm by its symbols. */
@ExtendWith(LeakCheck.class)
@Timeout(600) // for what hangs: on a busy machine each JVM takes half a minute to start
class StacksOfJvmTest {
    /** Compiled code calls it directly, without leaving Java. */
    private static final String PROBED = "_ZN2os13javaTimeNanosEv";

    /** For a busy machine. */
    private static final Duration PATIENCE = Duration.ofSeconds(100);

    @Test
    @Requires(BPF)
    void compiledMethodsAreNamed() throws IOException, InterruptedException {
        try (CallsJvm jvm = new CallsJvm();
                BpfObject object = Bpf.load("stack_traces.bpf.o", l -> Bpf.only(l, jvm.pid()));
                Symbolizer symbolizer = Symbolizer.of(Host.running())) {
            jvm.command("compile both calls");
            try (PerfMap _ = PerfMap.request(Host.running(), jvm.pid(), PATIENCE)) {
                symbolizer.remember(jvm.pid());
            }
            // Other threads of the JVM ask for the time, too, and a stack of theirs may get our place in the map.
            List<List<Frame>> named = Await.until(
                    "a stack of both calls",
                    () -> stacksOfCalls(jvm, object, symbolizer),
                    stacks -> stacks.stream().anyMatch(StacksOfJvmTest::hasOuterCall));
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

    /** The stacks that the JVM's threads have while both calls are made, among them that of the calls. */
    private static List<List<Frame>> stacksOfCalls(CallsJvm jvm, BpfObject object, Symbolizer symbolizer)
            throws IOException {
        Uprobe probed = Uprobe.entry(ChildJvm.libjvm(), PROBED).inProcess(jvm.pid());
        try (Link _ = object.program("take_user").attach(probed)) {
            jvm.command("again");
        }
        StackTraceMap stacks = StackTraceMap.of(object.map("stacks"));
        return stacks.ids().stream()
                .map(id -> symbolizer.user(jvm.pid(), stacks.get(id).orElseThrow()))
                .toList();
    }

    private static boolean hasOuterCall(List<Frame> stack) {
        return stack.stream().anyMatch(frame -> frame.function().contains("CallsMain.outerCall"));
    }

    @Test
    void onlyAJvmIsAsked() throws IOException, InterruptedException {
        Process other = new ProcessBuilder("sleep", "1000").start();
        try (Processes.Ended _ = Processes.endAfterwards(other)) {
            assertThatThrownBy(() -> PerfMap.request(Host.running(), Math.toIntExact(other.pid()), PATIENCE))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("is not a HotSpot JVM");
            assertThat(other.isAlive()).isTrue();
            assertThatThrownBy(() -> PerfMap.request(Host.running(), Integer.MAX_VALUE, PATIENCE))
                    .isInstanceOf(IOException.class);
        }
    }

    @Test
    void aJvmThatIsGoneIsNamed() throws IOException {
        int pid;
        try (CallsJvm jvm = new CallsJvm()) {
            pid = jvm.pid();
        }
        assertThatThrownBy(() -> PerfMap.request(Host.running(), pid, PATIENCE))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("" + pid);
    }
}
