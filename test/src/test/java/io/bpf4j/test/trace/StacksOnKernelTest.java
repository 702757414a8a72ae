package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.RawTracepoint;
import io.bpf4j.loader.link.TargetFile;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.loader.map.StackTraceMap;
import io.bpf4j.sys.Host;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.trace.stack.Frame;
import io.bpf4j.trace.stack.StackCounts;
import io.bpf4j.trace.stack.Symbolizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Stacks that the kernel takes of a program whose calls are known. */
@Requires({BPF, GCC})
@ExtendWith(LeakCheck.class)
@Timeout(600) // for what hangs
class StacksOnKernelTest {
    @Test
    void theCallsOfAProgramAreNamed() throws IOException {
        Path program = CPrograms.compile("stacks", "-O1", CPrograms.WALKABLE);
        try (TargetProgram target = TargetProgram.startCopy(program);
                BpfObject object = Bpf.load("stack_traces.bpf.o", l -> Bpf.only(l, target.pid()));
                Symbolizer symbolizer = Symbolizer.of(Host.running())) {
            List<StackTraceMap.Frame> stack = userStack(object, target, program);
            List<Frame> frames = symbolizer.user(target.pid(), stack);
            // Older kernels leave the direct caller out, where the function is probed before it makes its frame.
            assertThat(frames)
                    .extracting(Frame::function)
                    .startsWith("probed")
                    .contains("middle_one", "outermost", "main");
            assertThat(frames.getFirst().offset()).isZero();
            assertThat(frames)
                    .filteredOn(f -> f.function().equals("main"))
                    .singleElement()
                    .satisfies(main -> {
                        assertThat(main.module()).isEqualTo(program.toRealPath().toString());
                        assertThat(main.source()).isEqualTo(Frame.Source.SYMBOLS);
                        assertThat(main.offset()).isPositive();
                    });
            assertThat(symbolizer.endsEarly(target.pid(), stack)).isFalse();
            StackCounts counts = StackCounts.create();
            counts.add("stacks", frames, List.of(), 1);
            StringBuilder folded = new StringBuilder();
            counts.folded(folded);
            assertThat(folded.toString())
                    .startsWith("stacks;")
                    .contains(";main;outermost;middle_one;")
                    .endsWith("probed 1\n");
        }
    }

    /** The build ID finds the file; so the process may have ended when its stacks are named. */
    @Test
    void placesInFilesAreNamedAfterTheProcessHasEnded() throws IOException {
        Path program = CPrograms.compile("stacks", "-O1", CPrograms.WALKABLE, "-Wl,--build-id");
        try (BpfObject object = Bpf.load("stack_traces.bpf.o");
                Symbolizer symbolizer = Symbolizer.of(Host.running())) {
            List<StackTraceMap.Frame> places;
            int pid;
            try (TargetProgram target = TargetProgram.startCopy(program)) {
                pid = target.pid();
                List<StackTraceMap.Frame> stack = userStack(object, target, program);
                places = StackTraceMap.of(object.map("places"))
                        .get((int) Bpf.u64(object, "build_id_id"))
                        .orElseThrow();
                assertThat(places).anySatisfy(f -> assertThat(f).isInstanceOf(StackTraceMap.InFile.class));
                symbolizer.user(pid, stack);
            }
            assertThat(symbolizer.user(pid, places)).extracting(Frame::function).contains("middle_one", "outermost");
            assertThat(symbolizer.user(Integer.MAX_VALUE, places))
                    .as("by another pid, of which nothing is known")
                    .extracting(Frame::function)
                    .contains("middle_one", "outermost");
        }
    }

    @Test
    void aStrippedProgramIsNamedAsAModule() throws IOException, InterruptedException {
        Path copy = TargetProgram.temporaryFolder().resolve("stripped");
        Files.copy(CPrograms.compile("stacks", "-O1", CPrograms.WALKABLE), copy);
        long offset = offset(copy);
        assertThat(new ProcessBuilder("strip", copy.toString())
                        .inheritIO()
                        .start()
                        .waitFor())
                .isZero();
        try (TargetProgram target = TargetProgram.startCopy(copy);
                BpfObject object = Bpf.load("stack_traces.bpf.o", l -> Bpf.only(l, target.pid()));
                Symbolizer symbolizer = Symbolizer.of(Host.running());
                Link _ = object.program("take_user").attach(Uprobe.at(TargetFile.of(copy), offset))) {
            target.command("1");
            Frame frame = symbolizer.user(target.pid(), userStack(object)).getFirst();
            assertThat(frame.label()).matches("\\[stripped\\+0x[0-9a-f]+]");
            assertThat(frame.source()).isEqualTo(Frame.Source.MAPPING);
        }
    }

    @Test
    void stacksWithoutFramePointersAreRecognized() throws IOException {
        Path program = CPrograms.compile("stacks", "-O2", "-fomit-frame-pointer");
        try (TargetProgram target = TargetProgram.startCopy(program);
                BpfObject object = Bpf.load("stack_traces.bpf.o", l -> Bpf.only(l, target.pid()));
                Symbolizer symbolizer = Symbolizer.of(Host.running())) {
            List<StackTraceMap.Frame> stack = userStack(object, target, program);
            assertThat(symbolizer.user(target.pid(), stack))
                    .extracting(Frame::function)
                    .startsWith("probed")
                    .doesNotContain("outermost");
            assertThat(symbolizer.endsEarly(target.pid(), stack)).isTrue();
        }
    }

    @Test
    void theKernelsFunctionsAreNamed() throws IOException {
        Path program = CPrograms.compile("stacks", "-O1", CPrograms.WALKABLE);
        try (TargetProgram target = TargetProgram.startCopy(program);
                BpfObject object = Bpf.load("stack_traces.bpf.o", l -> Bpf.only(l, target.pid()));
                Symbolizer symbolizer = Symbolizer.of(Host.running());
                Link _ = object.program("take_kernel").attach(RawTracepoint.of("sys_enter"))) {
            target.command("1");
            List<StackTraceMap.Frame> stack = StackTraceMap.of(object.map("stacks"))
                    .get((int) Bpf.u64(object, "kernel_id"))
                    .orElseThrow();
            List<Frame> frames = symbolizer.kernel(stack);
            assertThat(frames).anySatisfy(f -> {
                assertThat(f.function()).contains("syscall");
                assertThat(f.source()).isEqualTo(Frame.Source.KERNEL);
            });
            assertThat(symbolizer.problems()).isEmpty();
        }
    }

    private static List<StackTraceMap.Frame> userStack(BpfObject object, TargetProgram target, Path program)
            throws IOException {
        try (Link _ = object.program("take_user").attach(Uprobe.entry(program, "probed"))) {
            target.command("1");
        }
        return userStack(object);
    }

    private static List<StackTraceMap.Frame> userStack(BpfObject object) {
        return StackTraceMap.of(object.map("stacks"))
                .get((int) Bpf.u64(object, "user_id"))
                .orElseThrow();
    }

    private static long offset(Path program) throws IOException {
        try (ElfFile elf = ElfFile.open(program)) {
            return elf.fileOffset(elf.symbols("probed").getFirst().value()).orElseThrow();
        }
    }
}
