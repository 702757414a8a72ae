package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Helper;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.map.StackTraceMap;
import io.bpf4j.sys.kernel.KernelFeature;
import io.bpf4j.sys.kernel.ProgramType;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.Gap;
import io.bpf4j.trace.Question;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Where an answer might be wrong without a word: what programs do to each other, to the maps, and on purpose. */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H})
@ExtendWith(LeakCheck.class)
@Timeout(600) // for what hangs
class GapsOnKernelTest {
    /** {@code MAX_URETPROBE_DEPTH} of the kernel. */
    private static final long FOLLOWED = 64;

    /** {@code QUESTION_HISTOGRAM}. */
    private static final int HISTOGRAM = 1;

    private static final Features WITHOUT_TASK_STORAGE = Features.ofRunningKernel()
            .without(new KernelFeature.Call(ProgramType.KPROBE, Helper.named("bpf_get_current_task_btf")));

    private static List<Long> numbers(List<String> command) throws IOException, InterruptedException {
        return Arrays.stream(Commands.check(command).strip().split(" "))
                .map(Long::valueOf)
                .toList();
    }

    @Test
    void theExtremesOfManyThreadsAreFound() throws IOException, InterruptedException {
        Path program = CPrograms.compile("crowd", "-O2", "-pthread");
        int threads = 8 * Runtime.getRuntime().availableProcessors();
        try (Answer answer = Question.on(UsdtScan.ofFile(program).matching("crowd:value"))
                .histogram("arg0")
                .open()) {
            List<Long> truth = numbers(List.of(program.toString(), "" + Math.min(64, threads), "20000"));
            Distribution all = answer.rows().getFirst().distribution().orElseThrow();
            assertThat(List.of(all.count(), all.min(), all.max())).isEqualTo(truth);
            assertThat(answer.gaps()).isEmpty();
            assertThat(answer.isExact()).isTrue();
        }
    }

    /** A thread that always comes between stands in for those that might do so by chance. */
    @Test
    void anExtremeThatCanNotBeRaisedIsCounted() throws IOException, InterruptedException {
        Path program = CPrograms.compile("crowd", "-O2", "-pthread");
        try (BpfObject object = Bpf.load(
                        "question.bpf.o",
                        loader -> loader.global("config.kind", HISTOGRAM)
                                .program("question_function", p -> p.withAutoload(false))
                                .function(
                                        "question_exchange",
                                        stub -> stub.withInstructions(Assembler.create()
                                                .movReg(Assembler.R0, Assembler.R2)
                                                .alu(Opcodes.ADD, Assembler.R0, 1)
                                                .exit()
                                                .assemble())));
                UsdtLink _ = Usdt.of(object)
                        .attach(
                                object.program("question_usdt"),
                                UsdtScan.ofFile(program).matching("crowd:value").probes())) {
            long events = numbers(List.of(program.toString(), "2", "500")).getFirst();
            assertThat(Bpf.u64(object, "extremes_lost"))
                    .as("each value is 0, which raises the complement of the smallest one")
                    .isEqualTo(events);
        }
    }

    private static Answer returnsOf(Path program, Features features) {
        return Question.on(List.of())
                .alsoOn(FunctionProbe.exit(program, "nested"))
                .withFeatures(features)
                .open();
    }

    /** More threads than a map for 16,384 has room for run between two calls of the thread that nests too deep. */
    @Test
    void nestedCallsAreNotForgottenForOtherThreads() throws IOException, InterruptedException {
        Path program = CPrograms.compile("nested", "-O1", "-fno-optimize-sibling-calls", "-pthread");
        for (Features features : List.of(Features.ofRunningKernel(), WITHOUT_TASK_STORAGE)) {
            try (Answer answer = returnsOf(program, features)) {
                List<Long> truth = numbers(List.of(program.toString(), "70", "20000"));
                long dropped = truth.getLast() - FOLLOWED;
                assertThat(answer.rows().getFirst().count()).isEqualTo(truth.getFirst() - dropped);
                assertThat(answer.gaps()).isEqualTo(Map.of(Gap.RETURNS_DROPPED, dropped));
            }
        }
    }

    @Test
    void aLatencyKnowsTheCallsWithoutAReturnBesideManyThreads() throws IOException, InterruptedException {
        Path program = CPrograms.compile("nested", "-O1", "-fno-optimize-sibling-calls", "-pthread");
        FunctionProbe[] both = {FunctionProbe.entry(program, "nested"), FunctionProbe.exit(program, "nested")};
        try (Answer answer = Question.on(List.of())
                .alsoOn(both)
                .latency("u:nested", "ur:nested")
                .open()) {
            List<Long> truth = numbers(List.of(program.toString(), "70", "20000"));
            long dropped = truth.getLast() - FOLLOWED;
            assertThat(answer.rows().getFirst().count()).isEqualTo(truth.getFirst() - dropped);
            assertThat(answer.gaps()).isEqualTo(Map.of(Gap.RETURNS_DROPPED, dropped));
        }
    }

    /** Threads that end in a call never return from it, so without task storage the room runs out. */
    @Test
    void callsThatAreNotFollowedAreCounted() throws IOException, InterruptedException {
        Path program = CPrograms.compile("nested", "-O1", "-fno-optimize-sibling-calls", "-pthread");
        int others = 17_000;
        List<String> command = List.of(program.toString(), "70", "" + others, "end");
        try (Answer answer = returnsOf(program, Features.ofRunningKernel())) {
            long dropped = numbers(command).getLast() - FOLLOWED;
            assertThat(answer.gaps()).isEqualTo(Map.of(Gap.RETURNS_DROPPED, dropped));
        }
        try (Answer answer = returnsOf(program, WITHOUT_TASK_STORAGE)) {
            numbers(command);
            assertThat(answer.gaps().get(Gap.NESTINGS_LOST)).isBetween(1L, (long) others - 16_000);
            assertThat(answer.isExact()).isFalse();
        }
    }

    private static Answer ofFunctions(Path program, Features features, String... functions) {
        return Question.on(List.of())
                .alsoOn(Arrays.stream(functions)
                        .map(function -> FunctionProbe.exit(program, function))
                        .toArray(FunctionProbe[]::new))
                .withFeatures(features)
                .open();
    }

    private static long events(Answer answer) {
        return answer.rows().stream().mapToLong(Answer.Row::count).sum();
    }

    private static Path leaps() throws IOException, InterruptedException {
        return CPrograms.compile("leaps", "-O2");
    }

    /** The function around them does not return meanwhile, so that the thread is always in a call. */
    @Test
    void callsThatAreLeftByALeapAreNotNested() throws IOException, InterruptedException {
        Path program = leaps();
        for (Features features : List.of(Features.ofRunningKernel(), WITHOUT_TASK_STORAGE)) {
            try (Answer answer = ofFunctions(program, features, "outer", "inner")) {
                List<Long> truth = numbers(List.of(program.toString(), "100", "20"));
                assertThat(events(answer)).isEqualTo(truth.getLast());
                assertThat(answer.gaps()).isEmpty();
                assertThat(answer.isExact()).isTrue();
            }
        }
    }

    @Test
    void aLatencyIsNotThatOfACallThatWasLeftByALeap() throws IOException, InterruptedException {
        Path program = leaps();
        FunctionProbe[] all = {
            FunctionProbe.entry(program, "outer"), FunctionProbe.exit(program, "outer"),
            FunctionProbe.entry(program, "inner"), FunctionProbe.exit(program, "inner")
        };
        int left = 100;
        try (Answer answer = Question.on(List.of())
                .alsoOn(all)
                .latency("u:{outer,inner}", "ur:{outer,inner}")
                .open()) {
            List<Long> truth = numbers(List.of(program.toString(), "" + left, "20"));
            assertThat(events(answer)).isEqualTo(truth.getLast());
            assertThat(answer.gaps())
                    .as("each is begun again in its place")
                    .isEqualTo(Map.of(Gap.UNPAIRED_BEGINS, (long) left));
        }
    }

    /** All of these have one place on the stack. */
    @Test
    void callsByAJumpAreNested() throws IOException, InterruptedException {
        Path program = leaps();
        try (Answer answer = ofFunctions(program, Features.ofRunningKernel(), "first", "second")) {
            List<Long> truth = numbers(List.of(program.toString(), "10", "100", "tail"));
            assertThat(events(answer)).isEqualTo(FOLLOWED);
            assertThat(answer.gaps()).isEqualTo(Map.of(Gap.RETURNS_DROPPED, truth.getLast() - FOLLOWED));
        }
    }

    /** The kernel does not look at the places of the calls that it follows while these are as many as it can follow. */
    @Test
    void afterALeapFromTooDeepTheKernelFollowsNoReturn() throws IOException, InterruptedException {
        Path program = leaps();
        try (Answer answer = ofFunctions(program, Features.ofRunningKernel(), "deep", "outer", "inner")) {
            List<Long> truth = numbers(List.of(program.toString(), "70", "20", "deep"));
            assertThat(events(answer)).isZero();
            assertThat(answer.gaps()).isEqualTo(Map.of(Gap.RETURNS_DROPPED, truth.getFirst() - FOLLOWED));
        }
    }

    private record Stack(long count, List<Long> addresses) {
        static Stack of(String line) {
            List<String> fields = List.of(line.split(" "));
            return new Stack(
                    Long.parseLong(fields.getFirst()),
                    fields.stream()
                            .skip(1)
                            .map(address -> Long.parseUnsignedLong(address, 16))
                            .toList());
        }

        static Stack of(Answer.Row row) {
            return new Stack(
                    row.count(),
                    row.userStack().orElseThrow().stream()
                            .map(frame -> ((StackTraceMap.Address) frame).address())
                            .toList());
        }
    }

    @Test
    @Requires(X86_64)
    void stacksWithTheSameHashAreNotOne() throws IOException, InterruptedException {
        Path program = CPrograms.compile("twins", "-O2");
        try (Answer answer = Question.on(List.of())
                .alsoOn(FunctionProbe.entry(program, "probed"))
                .byUserStack()
                .open()) {
            List<Stack> truth = Commands.check(List.of(program.toString()))
                    .lines()
                    .map(Stack::of)
                    .toList();
            Stack second = truth.get(1);
            assertThat(answer.rows().stream().map(Stack::of))
                    .containsExactlyInAnyOrder(truth.get(0), new Stack(second.count(), List.of()), truth.get(2));
            assertThat(answer.gaps()).isEqualTo(Map.of(Gap.STACKS_LOST, second.count()));
        }
    }
}
