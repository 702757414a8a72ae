package io.bpf4j.trace;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Helper;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.objects.BpfObjects;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.KernelFeature;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import io.bpf4j.trace.internal.expression.GeneratedFunction;
import java.util.List;
import java.util.Map;

/**
 * Loads {@code question.bpf.o} with the functions of a {@link CompiledQuestion}: sets its constants and the sizes of
 * its maps, and checks what the kernel supports.
 *
 * <p>Tested by {@code CompiledQuestionTest}, and by {@code QuestionsOnKernelTest}.
 */
final class QuestionProgram {
    /** The features that loading a question checks. */
    private static final List<Feature> ASKED = List.of(
            Feature.ATOMIC_EXCHANGE,
            Feature.MEMCG_ACCOUNTING,
            Feature.BTF,
            Feature.BTF_DATASEC,
            Feature.BTF_FUNC,
            Feature.BTF_GLOBAL_FUNC,
            Feature.OBJECT_NAMES,
            Feature.GLOBAL_DATA,
            Feature.MMAPABLE_ARRAY,
            Feature.MAP_FREEZE,
            Feature.BPF_COOKIE,
            Feature.PROBE_READ_KERNEL,
            Feature.UPROBE_MULTI_LINK,
            Feature.UPROBE_MULTI_PROCESS,
            Feature.EXPECTED_ATTACH_TYPE,
            Feature.UPROBE_MULTI_DESCRIPTOR);

    /** Both are needed for keeping the depth of nested calls in task storage. The second needs the kernel's BTF. */
    private static final KernelFeature TASK_STORAGE_GET =
            new KernelFeature.Call(ProgramType.KPROBE, Helper.named("bpf_task_storage_get"));

    private static final KernelFeature CURRENT_TASK =
            new KernelFeature.Call(ProgramType.KPROBE, Helper.named("bpf_get_current_task_btf"));

    static final String USDT_PROGRAM = "question_usdt";
    static final String FUNCTION_PROGRAM = "question_function";

    /** Replaces {@code question_exchange} on kernels without that instruction: stores, and returns the old value. */
    private static final List<Instruction> STORE = Assembler.create()
            .stx(Long.BYTES, Assembler.R1, 0, Assembler.R3)
            .movReg(Assembler.R0, Assembler.R2)
            .exit()
            .assemble();

    /** About the memory that the kernel needs for an element of a hash map besides key and value. */
    private static final long ELEMENT_BYTES = 64;

    private static final long MEMORY_SHARE = 4;

    /** {@code struct pair_key}. */
    private static final int PAIR_BYTES = 16;

    private QuestionProgram() {}

    /** The object is read once. */
    private static final class Frame {
        static final ObjectSpec SPEC = ObjectSpec.parse("question.bpf.o", BpfObjects.question());
    }

    /** See {@link Question#prepare}. */
    static void prepare() {
        BpfLoader.of(Frame.SPEC).global("lossless", false);
        Features features = Features.ofRunningKernel();
        ASKED.forEach(features::support);
    }

    /**
     * Loads the program.
     *
     * @throws UnsupportedFeatureException if the question is about functions and the kernel lacks
     *     {@code bpf_get_attach_cookie}, by which the program knows which function it is called for
     * @throws IllegalArgumentException if the keys take too much memory
     */
    static BpfObject load(Question question, CompiledQuestion compiled) {
        KernelFeature.Call cookie = new KernelFeature.Call(ProgramType.KPROBE, Helper.named("bpf_get_attach_cookie"));
        if (!question.functions.isEmpty() && question.features.support(cookie) instanceof Support.Absent absent) {
            throw new UnsupportedFeatureException("ask about functions", Feature.BPF_COOKIE, absent.reason());
        }
        boolean returns = compiled.hasReturns();
        boolean taskStorage = returns && question.features.has(TASK_STORAGE_GET) && question.features.has(CURRENT_TASK);
        Map<String, GeneratedFunction> functions = compiled.functions();
        BpfLoader loader = RunningProgram.withGroups(BpfLoader.of(Frame.SPEC).host(question.host), question)
                .features(question.features)
                .global("config.has_begin", functions.containsKey("question_begin"))
                .global("config.has_where", functions.containsKey("question_where"))
                .global("config.has_keys", functions.containsKey("question_keys"))
                .global("config.has_pair", functions.containsKey("question_pair"))
                .global("config.has_returns", returns)
                .global("config.has_task_storage", taskStorage)
                .map("nestings", map -> map.withAutocreate(taskStorage))
                .map("nestings_by_tid", map -> map.withAutocreate(returns && !taskStorage))
                .program(FUNCTION_PROGRAM, program -> program.withAutoload(!question.functions.isEmpty()));
        configure(loader, question, compiled);
        sizeMaps(loader, question, compiled);
        if (!question.features.has(Feature.ATOMIC_EXCHANGE)) {
            loader.function("question_exchange", stub -> stub.withInstructions(STORE));
        }
        functions.forEach(
                (stub, function) -> loader.function(stub, known -> known.withInstructions(function.instructions())));
        byte[] bytes = compiled.tables();
        if (bytes.length > 0) {
            loader.global("tables", bytes);
        }
        return loader.load();
    }

    /** Sets the constants of {@code struct config} in {@code question.bpf.c} that are the question's own. */
    private static void configure(BpfLoader loader, Question question, CompiledQuestion compiled) {
        loader.global("config.kind", question.kind.number())
                .global("config.by_frame", ProbeNumbers.byFrame(question))
                .global("config.wanted_args", compiled.arguments())
                .global("config.wanted_fields", compiled.fields())
                .global("config.value_signed", compiled.valueSigned())
                .global("config.linear_from", question.scale.from())
                .global("config.linear_step", question.scale.linear() ? question.scale.step() : 0)
                .global("config.bucket_count", question.scale.buckets())
                .global(
                        "config.user_stack_at",
                        Integer.toUnsignedLong(compiled.key().userStackAt()))
                .global(
                        "config.kernel_stack_at",
                        Integer.toUnsignedLong(compiled.key().kernelStackAt()))
                .global("config.has_slower", question.slowerThan.isPresent())
                .global("config.slower_than", question.slowerThan.orElse(0))
                .global("config.shown_bytes", compiled.shownBytes())
                .global("lossless", question.lossless);
    }

    /** Sets the sizes of the maps, and leaves out those that the question does not need. */
    private static void sizeMaps(BpfLoader loader, Question question, CompiledQuestion compiled) {
        int maxKeys = maxKeys(question, compiled);
        boolean withStacks = question.userStack || question.kernelStack;
        loader.map(
                        "table",
                        map -> map.withType((compiled.key().isKeyed() ? MapType.PERCPU_HASH : MapType.PERCPU_ARRAY)
                                        .number())
                                .withSizes(compiled.key().bytes(), compiled.valueBytes())
                                .withMaxEntries(maxKeys)
                                .withAutocreate(question.kind != QuestionKind.EVENTS))
                .map(
                        "begins",
                        map -> map.withSizes(PAIR_BYTES, Long.BYTES + compiled.beginBytes())
                                .withAutocreate(question.kind == QuestionKind.LATENCY))
                .map("stacks", map -> map.withAutocreate(withStacks))
                .map("stacks_in_work", map -> map.withAutocreate(withStacks))
                .map("records", map -> map.withMaxEntries(question.bufferBytes).withAutocreate(compiled.showsEvents()))
                .map("__bpf_usdt_specs", map -> map.withMaxEntries(question.specs()));
    }

    /**
     * The room for keys. The kernel allocates all keys at once, which may take half a minute, and other programs then
     * lack the memory.
     *
     * @throws IllegalArgumentException if they take too much memory
     */
    private static int maxKeys(Question question, CompiledQuestion compiled) {
        if (!compiled.key().isKeyed()) {
            return 1;
        }
        int usual = question.kind == QuestionKind.COUNT ? Question.MAX_COUNTED_KEYS : Question.MAX_DISTRIBUTED_KEYS;
        int keys = question.maxKeys.orElse(usual);
        long memory = question.host.memory().orElse(Long.MAX_VALUE);
        long cpus = Runtime.getRuntime().availableProcessors();
        long each = ELEMENT_BYTES + compiled.key().bytes() + cpus * compiled.valueBytes();
        // Both factors are small enough: a number of 31 bits, and some KiB for each of some thousand CPUs.
        if (question.kind != QuestionKind.EVENTS && each * keys > memory / MEMORY_SHARE) {
            throw new IllegalArgumentException("room for " + keys + " keys takes " + ((each * keys) >> 20)
                    + " MiB of the kernel's memory, " + each + " bytes for each; a question may take 1/" + MEMORY_SHARE
                    + " of " + (memory >> 20) + " MiB: room for " + memory / MEMORY_SHARE / each + " keys");
        }
        return keys;
    }
}
