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
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.linux.PidNamespace;
import io.bpf4j.sys.kernel.Facility;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import io.bpf4j.trace.catalog.ArgumentType;
import io.bpf4j.trace.catalog.ProbeArgument;
import io.bpf4j.trace.internal.demangle.Demangler;
import io.bpf4j.trace.internal.expression.BeginValues;
import io.bpf4j.trace.internal.expression.Expression;
import io.bpf4j.trace.internal.expression.Field;
import io.bpf4j.trace.internal.expression.GeneratedFunction;
import io.bpf4j.trace.internal.expression.Output;
import io.bpf4j.trace.internal.expression.Scope;
import io.bpf4j.trace.internal.expression.Tables;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtProbe;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A question as the kernel gets it: the functions that its expressions become, and how the bytes that they write are
 * read. Everything about {@code question.bpf.o} that user space knows is here. <i>Immutable.</i>
 *
 * <p>Tested by {@code QuestionsOnKernelTest}.
 */
final class CompiledQuestion {
    /** What loading a question asks about the kernel. */
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

    /** What the depth of nested calls is kept with, if the kernel has both. The second needs the kernel's BTF. */
    private static final Facility TASK_STORAGE_GET =
            new Facility.Call(ProgramType.KPROBE, Helper.named("bpf_task_storage_get"));

    private static final Facility CURRENT_TASK =
            new Facility.Call(ProgramType.KPROBE, Helper.named("bpf_get_current_task_btf"));

    static final String USDT_PROGRAM = "question_usdt";
    static final String FUNCTION_PROGRAM = "question_function";

    /** {@code QUESTION_OUT}: the largest key. */
    private static final int MOST_KEY_BYTES = 160;

    /** {@code QUESTION_SHOW}: the most bytes of values that are shown of an event. */
    private static final int MOST_SHOWN_BYTES = 1024;

    /** What the demangler says of the symbol of a type's name. */
    private static final String NAME_OF_TYPE = "typeinfo name for ";

    /** What comes before the names of the values of a latency's begin. */
    private static final String OF_BEGIN = "begin.";

    /** The end of a text that was cut. */
    private static final String CUT = "...";

    /** What takes the place of {@code question_exchange} on kernels without that instruction: store, and give the old. */
    private static final List<Instruction> STORE = Assembler.create()
            .stx(Long.BYTES, Assembler.R1, 0, Assembler.R3)
            .movReg(Assembler.R0, Assembler.R2)
            .exit()
            .assemble();

    /** What the kernel needs for an element of a hash map besides key and value, about. */
    private static final long ELEMENT_BYTES = 64;

    private static final long MEMORY_SHARE = 4;

    /** {@code struct pair_key}. */
    private static final int PAIR_BYTES = 16;

    /** {@code QUESTION_FRAMES}: the most addresses of a stack. */
    static final int FRAMES = 127;

    private static final int FEWEST_SPECS = 256;
    private static final int NO_STACK = -1;

    private final Question question;
    private final Tables tables = new Tables();
    private final LaterProbes later;

    /** How many probes had a number when the question was compiled. */
    private final int probesKnown;

    private final @Nullable GeneratedFunction begin;
    private final @Nullable GeneratedFunction where;
    private final @Nullable GeneratedFunction keys;
    private final @Nullable GeneratedFunction value;
    private final @Nullable GeneratedFunction pair;
    private final @Nullable GeneratedFunction shown;
    private final int userStackAt;
    private final int kernelStackAt;
    private final int keyBytes;
    private final Optional<String> unitOfArgument;

    /** Probes of which the filter takes no event. */
    private final Set<String> leftOut;

    /** Expressions that are names of C++ types as the compiler encodes them. */
    private final Set<String> encodedTypes;

    private CompiledQuestion(Question question, ProbeNumbers numbers) {
        this.question = question;
        boolean latency = question.kind == QuestionKind.LATENCY;
        List<ProbeNumbers.Known> known = numbers.all();
        probesKnown = known.size();
        // What is said of a pair is known when it ends.
        List<ProbeNumbers.Known> filtered =
                latency ? known.stream().filter(ProbeNumbers.Known::ends).toList() : known;
        boolean open = !question.expected.isEmpty();
        later = new LaterProbes(open);
        Optional<BeginValues> begins = latency
                ? Optional.of(BeginValues.of(
                        parsed(Stream.concat(Stream.of(question.where), question.by.stream())
                                .filter(text -> !text.isEmpty())),
                        MOST_KEY_BYTES,
                        parsed(question.show.stream()),
                        MOST_SHOWN_BYTES,
                        new ProbeScope(numbers.begins(), later, open),
                        tables))
                : Optional.empty();
        begin = begins.flatMap(BeginValues::function).orElse(null);
        where = question.where.isEmpty()
                ? null
                : GeneratedFunction.predicate(
                        Expression.parse(question.where), new ProbeScope(filtered, later, open, begins), tables);
        List<ProbeNumbers.Known> taken = taken(question, where, filtered);
        leftOut = latency ? Set.of() : leftOut(known, taken);
        Scope answered = new ProbeScope(
                taken, later, open && (where == null || where.probes().contains(Scope.LATER)), begins);
        value = question.kind == QuestionKind.HISTOGRAM
                ? GeneratedFunction.value(Expression.parse(question.of), answered, tables)
                : null;
        pair = question.pairedBy.isEmpty()
                ? null
                : GeneratedFunction.value(
                        Expression.parse(question.pairedBy), new ProbeScope(known, later, open), tables);
        shown = question.show.isEmpty() ? null : outputs(question.show, answered, MOST_SHOWN_BYTES);
        // Whose addresses they are must be known.
        List<String> by = new ArrayList<>(question.by);
        if (question.userStack && !by.contains("pid")) {
            by.add("pid");
        }
        int stackBytes = (question.userStack ? Long.BYTES : 0) + (question.kernelStack ? Long.BYTES : 0);
        keys = by.isEmpty() ? null : outputs(by, answered, MOST_KEY_BYTES - stackBytes);
        int end = keys == null ? 0 : end(keys);
        userStackAt = question.userStack ? end : NO_STACK;
        kernelStackAt = question.kernelStack ? end + stackBytes - Long.BYTES : NO_STACK;
        keyBytes = end + stackBytes == 0 ? Integer.BYTES : end + stackBytes;
        if (question.scale.linear() && question.scale.from() < 0 && !valueSigned()) {
            throw new IllegalArgumentException("the values to distribute are unsigned, so no range begins at "
                    + question.scale.from() + "; begin at 0, or convert them: (long)(…)");
        }
        unitOfArgument = unitOfArgument(question.of.strip(), taken);
        encodedTypes = encodedTypes(known);
    }

    /** The probes of which the filter takes events; all if it takes none, but others may appear. */
    private static List<ProbeNumbers.Known> taken(
            Question question, @Nullable GeneratedFunction where, List<ProbeNumbers.Known> probes) {
        if (where == null) {
            return probes;
        }
        List<ProbeNumbers.Known> taken = probes.stream()
                .filter(probe -> where.probes().contains(probe.number()))
                .toList();
        if (taken.isEmpty() && !probes.isEmpty() && question.expected.isEmpty()) {
            String first = probes.getFirst().fullName();
            throw new IllegalArgumentException("the filter is never true of "
                    + (probes.size() == 1 ? first : "any of " + probes.size() + " probes, such as " + first) + ": "
                    + question.where);
        }
        return taken.isEmpty() ? probes : taken;
    }

    /** Names of which no probe is taken. */
    private static Set<String> leftOut(List<ProbeNumbers.Known> known, List<ProbeNumbers.Known> taken) {
        Set<String> names =
                known.stream().map(ProbeNumbers.Known::fullName).collect(Collectors.toCollection(HashSet::new));
        taken.forEach(probe -> names.remove(probe.fullName()));
        return names;
    }

    /** Whether the filter may take an event of a probe; the events of others need not fire. */
    boolean takes(String fullName) {
        return !leftOut.contains(fullName);
    }

    /**
     * Checks that the question can be asked of a probe, which may not have been known when it was compiled.
     *
     * @throws UsdtException if the answer would be wrong: see {@link LaterProbes}
     */
    void check(UsdtProbe probe, ProbeNumbers numbers) {
        int number = (int) numbers.cookie(probe);
        later.check(probe, number, number <= probesKnown);
    }

    private static Set<String> encodedTypes(List<ProbeNumbers.Known> probes) {
        return probes.stream()
                .flatMap(probe -> probe.signature().stream())
                .flatMap(signature -> signature.arguments().stream())
                .filter(argument -> argument.type() instanceof ArgumentType.Text text && text.mangled())
                .map(ProbeArgument::name)
                .collect(Collectors.toUnmodifiableSet());
    }

    /**
     * Compiles a question.
     *
     * @throws io.bpf4j.trace.expression.ExpressionException if an expression is wrong
     * @throws IllegalArgumentException if the parts of the question don't fit together
     */
    static CompiledQuestion of(Question question, ProbeNumbers numbers) {
        if (question.kind == QuestionKind.LATENCY) {
            List<ProbeNumbers.Known> both =
                    numbers.all().stream().filter(p -> p.begins() && p.ends()).toList();
            if (!both.isEmpty()) {
                throw new IllegalArgumentException("probe " + both.getFirst().fullName()
                        + " both begins and ends a pair: the patterns of begin and end must differ");
            }
        } else if (!question.pairedBy.isEmpty() || question.slowerThan.isPresent()) {
            throw new IllegalArgumentException("only a latency has pairs, and events slower than a time");
        }
        boolean shows = !question.show.isEmpty() && question.kind != QuestionKind.LATENCY;
        if (!question.of.isEmpty() && (shows || !question.pair.isEmpty() || question.kind != QuestionKind.HISTOGRAM)) {
            throw new IllegalArgumentException(
                    "a question has one kind: a histogram, a latency, or events that are shown; ask two questions");
        }
        if (question.lossless && question.kind != QuestionKind.EVENTS) {
            throw new IllegalArgumentException("only a question that shows each event can be lossless");
        }
        return new CompiledQuestion(question, numbers);
    }

    private GeneratedFunction outputs(List<String> expressions, Scope scope, int limit) {
        return GeneratedFunction.outputs(parsed(expressions.stream()), scope, tables, limit);
    }

    private static List<Expression> parsed(Stream<String> expressions) {
        return expressions.map(Expression::parse).toList();
    }

    private static int end(GeneratedFunction function) {
        Output last = function.outputs().getLast();
        return Math.ceilDiv(last.offset() + last.size(), Long.BYTES) * Long.BYTES;
    }

    /** The object is read once. */
    private static final class Frame {
        static final ObjectSpec SPEC = ObjectSpec.parse("question.bpf.o", BpfObjects.question());
    }

    /** See {@link Question#prepare}. */
    static void prepare() {
        BpfLoader.of(Frame.SPEC)
                .global("pidns_device", PidNamespace.own(Host.running()).device());
        Features features = Features.ofRunningKernel();
        ASKED.forEach(features::support);
    }

    /**
     * Loads the program.
     *
     * @throws UnsupportedFeatureException if the kernel lacks what functions need: their program asks which one it is
     */
    BpfObject load() {
        Facility.Call cookie = new Facility.Call(ProgramType.KPROBE, Helper.named("bpf_get_attach_cookie"));
        if (!question.functions.isEmpty() && question.features.support(cookie) instanceof Support.Absent absent) {
            throw new UnsupportedFeatureException("ask about functions", Feature.BPF_COOKIE, absent.reason());
        }
        ObjectSpec spec = Frame.SPEC;
        PidNamespace namespace = PidNamespace.own(Host.running());
        requireMemory();
        boolean latency = question.kind == QuestionKind.LATENCY;
        boolean taskStorage = hasReturns() && hasTaskStorage();
        boolean withStacks = question.userStack || question.kernelStack;
        int specs = question.probes.stream().mapToInt(p -> p.sites().size()).sum() + question.moreSpecs;
        BpfLoader loader = BpfLoader.of(spec)
                .features(question.features)
                .global("pidns_device", namespace.device())
                .global("pidns_inode", namespace.inode())
                .global("config.kind", question.kind.number())
                .global("config.has_begin", begin != null)
                .global("config.has_where", where != null)
                .global("config.has_keys", keys != null)
                .global("config.has_pair", pair != null)
                .global("config.has_returns", hasReturns())
                .global("config.has_task_storage", taskStorage)
                .global("config.by_frame", ProbeNumbers.byFrame(question))
                .global("config.wanted_args", arguments())
                .global("config.wanted_fields", fields())
                .global("config.value_signed", valueSigned())
                .global("config.linear_from", question.scale.from())
                .global("config.linear_step", question.scale.linear() ? question.scale.step() : 0)
                .global("config.bucket_count", question.scale.buckets())
                .global("config.user_stack_at", Integer.toUnsignedLong(userStackAt))
                .global("config.kernel_stack_at", Integer.toUnsignedLong(kernelStackAt))
                .global("config.has_slower", question.slowerThan.isPresent())
                .global("config.slower_than", question.slowerThan.orElse(0))
                .global("config.shown_bytes", shownBytes())
                .global("lossless", question.lossless)
                .map(
                        "table",
                        map -> map.withType((keyed() ? MapType.PERCPU_HASH : MapType.PERCPU_ARRAY).number())
                                .withSizes(keyBytes, valueBytes())
                                .withMaxEntries(keyed() ? maxKeys() : 1)
                                .withAutocreate(question.kind != QuestionKind.EVENTS))
                .map(
                        "begins",
                        map -> map.withSizes(PAIR_BYTES, Long.BYTES + (begin == null ? 0 : end(begin)))
                                .withAutocreate(latency))
                .map("nestings", map -> map.withAutocreate(taskStorage))
                .map("nestings_by_tid", map -> map.withAutocreate(hasReturns() && !taskStorage))
                .map("stacks", map -> map.withAutocreate(withStacks))
                .map("stacks_in_work", map -> map.withAutocreate(withStacks))
                .map("records", map -> map.withMaxEntries(question.bufferBytes).withAutocreate(showsEvents()))
                .map("__bpf_usdt_specs", map -> map.withMaxEntries(Math.max(FEWEST_SPECS, specs)))
                .program(FUNCTION_PROGRAM, program -> program.withAutoload(!question.functions.isEmpty()));
        if (!question.features.has(Feature.ATOMIC_EXCHANGE)) {
            loader.function("question_exchange", stub -> stub.withInstructions(STORE));
        }
        replace(loader, "question_begin", begin);
        replace(loader, "question_where", where);
        replace(loader, "question_keys", keys);
        replace(loader, "question_value", value);
        replace(loader, "question_pair", pair);
        replace(loader, "question_show", shown);
        byte[] bytes = tables.bytes();
        if (bytes.length > 0) {
            loader.global("tables", bytes);
        }
        return loader.load();
    }

    /** The kernel allocates all keys at once, for half a minute perhaps, and at the expense of all other programs. */
    private void requireMemory() {
        long memory = Host.running().memory().orElse(Long.MAX_VALUE);
        long cpus = Runtime.getRuntime().availableProcessors();
        long each = ELEMENT_BYTES + keyBytes + cpus * valueBytes();
        // Both factors are small enough: a number of 31 bits, and some KiB for each of some thousand CPUs.
        if (question.kind != QuestionKind.EVENTS && keyed() && each * maxKeys() > memory / MEMORY_SHARE) {
            throw new IllegalArgumentException("room for " + maxKeys() + " keys takes "
                    + ((each * maxKeys()) >> 20) + " MiB of the kernel's"
                    + " memory, " + each + " bytes for each; a question may take 1/" + MEMORY_SHARE + " of "
                    + (memory >> 20) + " MiB: room for " + memory / MEMORY_SHARE / each + " keys");
        }
    }

    private int maxKeys() {
        int usual = question.kind == QuestionKind.COUNT ? Question.MAX_COUNTED_KEYS : Question.MAX_DISTRIBUTED_KEYS;
        return question.maxKeys.orElse(usual);
    }

    /** Whether there is an answer for each key, rather than one. */
    private boolean keyed() {
        return keys != null || question.userStack || question.kernelStack;
    }

    private boolean hasReturns() {
        return question.functions.stream().anyMatch(FunctionProbe::returns);
    }

    private boolean hasTaskStorage() {
        return question.features.has(TASK_STORAGE_GET) && question.features.has(CURRENT_TASK);
    }

    private static void replace(BpfLoader loader, String name, @Nullable GeneratedFunction generated) {
        if (generated != null) {
            loader.function(name, stub -> stub.withInstructions(generated.instructions()));
        }
    }

    private List<GeneratedFunction> functions() {
        List<GeneratedFunction> all = new ArrayList<>();
        for (GeneratedFunction function : new @Nullable GeneratedFunction[] {begin, where, keys, value, pair, shown}) {
            if (function != null) {
                all.add(function);
            }
        }
        return all;
    }

    private long arguments() {
        return functions().stream().mapToLong(GeneratedFunction::arguments).reduce(0, (left, right) -> left | right);
    }

    private long fields() {
        boolean paired = question.kind == QuestionKind.LATENCY;
        long own = (paired || showsEvents() ? Field.NSECS.bit() | Field.THREAD.bit() : 0)
                | (hasReturns() ? Field.THREAD.bit() : 0);
        return functions().stream()
                .flatMap(function -> function.fields().stream())
                .mapToLong(Field::bit)
                .reduce(own, (left, right) -> left | right);
    }

    private boolean showsEvents() {
        return question.kind == QuestionKind.EVENTS || question.slowerThan.isPresent();
    }

    QuestionKind kind() {
        return question.kind;
    }

    Distribution.Scale scale() {
        return question.scale;
    }

    /** Whether the values of a distribution are signed; a time is not. */
    boolean valueSigned() {
        return value != null && !value.outputs().getFirst().type().isU64();
    }

    /** The size of a key in bytes; without keys, that of an array's index. */
    int keyBytes() {
        return keyBytes;
    }

    /** The size of the value that a CPU has for a key, in bytes. */
    int valueBytes() {
        return question.kind == QuestionKind.COUNT ? Long.BYTES : Distribution.Sums.bytes(question.scale);
    }

    int shownBytes() {
        return shown == null ? 0 : end(shown);
    }

    /** Where the hash of the stack in user space is in a key; negative if it isn't there. */
    int userStackAt() {
        return userStackAt;
    }

    int kernelStackAt() {
        return kernelStackAt;
    }

    Map<String, Object> keyOf(byte[] key, ProbeNumbers numbers) {
        return values(keys, key, numbers);
    }

    Map<String, Object> shownOf(byte[] bytes, ProbeNumbers numbers) {
        return values(shown, bytes, numbers);
    }

    private Map<String, Object> values(@Nullable GeneratedFunction function, byte[] bytes, ProbeNumbers numbers) {
        Map<String, Object> values = new LinkedHashMap<>();
        if (function != null) {
            for (Output output : function.outputs()) {
                Object value = output.decode(bytes, ofBegin(output.text()) ? numbers::nameOfBegin : numbers::name);
                if (value instanceof String text) {
                    String name = output.text().strip();
                    boolean encoded = encodedTypes.contains(ofBegin(name) ? name.substring(OF_BEGIN.length()) : name);
                    value = (encoded ? typeName(text) : text) + (output.isCut(bytes) ? CUT : "");
                }
                values.put(output.text(), value);
            }
        }
        return values;
    }

    private static boolean ofBegin(String expression) {
        return expression.replace("(", "").strip().startsWith(OF_BEGIN);
    }

    /** {@code std::runtime_error} for {@code St13runtime_error}. What can't be decoded, as without its end, stays. */
    static String typeName(String encoded) {
        // A * says that the type is known in one file only.
        String symbol = "_ZTS" + (encoded.startsWith("*") ? encoded.substring(1) : encoded);
        String name = Demangler.demangle(symbol);
        return name.startsWith(NAME_OF_TYPE) ? name.substring(NAME_OF_TYPE.length()) : encoded;
    }

    /** Whether keys or the values of a distribution are results of functions, without a conversion. */
    boolean hasResults() {
        return distributesResults() || question.by.stream().anyMatch(SignedResults::isResult);
    }

    boolean distributesResults() {
        return SignedResults.isResult(question.of);
    }

    /** The unit of the values: of a latency, and of an argument whose unit the catalog knows. */
    Optional<String> unit() {
        return question.kind == QuestionKind.LATENCY ? Optional.of("ns") : unitOfArgument;
    }

    private static Optional<String> unitOfArgument(String name, List<ProbeNumbers.Known> probes) {
        List<Optional<ArgumentType.Unit>> units = probes.stream()
                .map(probe -> probe.signature()
                        .flatMap(signature -> signature.argument(name))
                        .map(ProbeArgument::type)
                        .flatMap(type -> type instanceof ArgumentType.Int number ? number.unit() : Optional.empty()))
                .distinct()
                .toList();
        return units.size() == 1 ? units.getFirst().map(ArgumentType.Unit::symbol) : Optional.empty();
    }
}
