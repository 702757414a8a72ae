package io.bpf4j.trace;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.binding.ValueCodecs;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.StackTraceMap;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.trace.expression.ValueType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the maps of {@code question.bpf.c}: {@code table} has a value for each key and CPU, {@code stacks} the addresses
 * of the stacks whose hashes are in the keys, {@code begins} the begins without an end so far.
 *
 * <p>Tested by {@code QuestionsOnKernelTest} and {@code StacksOnKernelTest}.
 */
final class AnswerTable {
    private final BpfObject object;
    private final CompiledQuestion question;
    private final ProbeNumbers numbers;
    private final Optional<GroupNames> groups;

    AnswerTable(BpfObject object, CompiledQuestion question, ProbeNumbers numbers, Optional<GroupNames> groups) {
        this.object = object;
        this.question = question;
        this.numbers = numbers;
        this.groups = groups;
    }

    /** A row for each combination of keys, in no order. */
    List<Answer.Row> rows() {
        if (question.kind() == QuestionKind.EVENTS) {
            return List.of();
        }
        int longs = question.valueBytes() / Long.BYTES;
        TypedMap<byte[], List<long[]>> table = TypedMap.perCpu(
                object.map("table"), Codec.ofBytes(question.key().bytes()), ValueCodecs.ofLongs(longs));
        groups.ifPresent(names -> {
            Set<Long> ids = new HashSet<>();
            table.forEach((key, _) -> ids.addAll(question.key().groupsOf(key)));
            names.find(ids);
        });
        Map<Object, Cell> cells = new LinkedHashMap<>();
        table.forEach((key, cpus) -> cells.computeIfAbsent(
                        question.sameKey(key, numbers, this::groupName), _ -> new Cell(key))
                .add(cpus));
        Map<Long, List<StackTraceMap.Frame>> stacks = new LinkedHashMap<>();
        List<Answer.Row> rows = new ArrayList<>();
        cells.values().forEach(cell -> rows.add(cell.row(stacks)));
        // The only element of a table without keys is there before the first event.
        rows.removeIf(row -> row.count() == 0);
        return rows;
    }

    /** The name of the unit, container or pod to which a control group belongs. */
    String groupName(ValueType.Basic kind, long id) {
        return groups.orElseThrow().name(GroupPattern.Kind.valueOf(kind.name()), id);
    }

    /** The sums of all CPUs for one key. */
    private final class Cell {
        private final byte[] key;
        private final Distribution.@Nullable Sums sums;
        private long count;

        Cell(byte[] key) {
            this.key = key;
            this.sums = question.kind() == QuestionKind.COUNT
                    ? null
                    : new Distribution.Sums(question.scale(), !question.valueSigned());
        }

        void add(List<long[]> cpus) {
            Distribution.Sums distributed = sums;
            for (long[] cpu : cpus) {
                if (distributed == null) {
                    count += cpu[0];
                } else {
                    distributed.add(cpu);
                }
            }
        }

        Answer.Row row(Map<Long, List<StackTraceMap.Frame>> stacks) {
            Optional<Distribution> distribution = Optional.ofNullable(sums).map(Distribution.Sums::toDistribution);
            return new Answer.Row(
                    question.keyOf(key, numbers, AnswerTable.this::groupName),
                    distribution.map(Distribution::count).orElse(count),
                    distribution,
                    stack(key, question.key().userStackAt(), stacks),
                    stack(key, question.key().kernelStackAt(), stacks));
        }
    }

    private Optional<List<StackTraceMap.Frame>> stack(byte[] key, int at, Map<Long, List<StackTraceMap.Frame>> known) {
        if (at < 0) {
            return Optional.empty();
        }
        long hash = ByteBuffer.wrap(key).order(ByteOrder.nativeOrder()).getLong(at);
        return Optional.of(hash == 0 ? List.of() : known.computeIfAbsent(hash, _ -> addresses(hash)));
    }

    private List<StackTraceMap.Frame> addresses(long hash) {
        long[] frames = TypedMap.of(object.map("stacks"), Codec.ofLong(), ValueCodecs.ofLongs(CompiledQuestion.FRAMES))
                .get(hash)
                .orElse(new long[0]);
        return Arrays.stream(frames)
                .takeWhile(address -> address != 0)
                .<StackTraceMap.Frame>mapToObj(StackTraceMap.Address::new)
                .toList();
    }

    /** The begins of a latency whose end has not come yet. */
    long openBegins() {
        return question.kind() == QuestionKind.LATENCY ? begins().toMap().size() : 0;
    }

    /** Removes these begins; their ends will have no partner. Only for a latency. */
    void forgetBegins() {
        TypedMap<byte[], byte[]> begins = begins();
        begins.toMap().keySet().forEach(begins::remove);
    }

    private TypedMap<byte[], byte[]> begins() {
        BpfMap begins = object.map("begins");
        return TypedMap.of(begins, Codec.ofBytes(begins.keySize()), Codec.ofBytes(begins.valueSize()));
    }
}
