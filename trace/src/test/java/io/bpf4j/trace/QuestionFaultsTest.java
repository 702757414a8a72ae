package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.ScriptedLoads;
import io.bpf4j.loader.binding.ValueCodecs;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.sys.internal.call.Command;
import io.bpf4j.sys.internal.call.FaultInjection;
import io.bpf4j.sys.internal.call.FaultInjection.Figures;
import io.bpf4j.sys.internal.call.FaultInjection.Journey;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.usdt.UsdtBinary;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtArg;
import io.bpf4j.usdt.site.UsdtSite;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * What a program does with questions, whole: each of its system calls fails in turn, with each error of its manual. What
 * is tolerated is listed here, with the reason.
 */
@Execution(ExecutionMode.CONCURRENT)
class QuestionFaultsTest {
    private static final UsdtArg ARGUMENT = UsdtArg.unsigned(8, new UsdtArg.Register("rax"));

    /** With a site each, in one file. */
    private static final List<UsdtProbe> PROBES = List.of(probe("begin", 0x1000), probe("end", 0x2000));

    private static final int POSSIBLE_CPUS = 4;

    /** {@code struct question_record}, up to its values. */
    private static final int RECORD_BYTES = 56;

    /** Of a ring buffer's record, and where the first one is. */
    private static final int HEADER_BYTES = 8;

    private static final int PRODUCER_PAGE = 4096;
    private static final int RECORDS = 2 * 4096;

    private static Figures all = Figures.NONE;

    private static UsdtProbe probe(String name, long offset) {
        UsdtBinary binary = UsdtBinary.of(Path.of("/db"), Machine.X86_64, ScriptedKernel.UNKNOWN_FILE);
        UsdtSite site = UsdtSite.at(0x400000 + offset, offset).withArguments("", List.of(ARGUMENT), Map.of());
        return UsdtProbe.of(binary, "db", name, List.of(site));
    }

    private static Question question(ScriptedKernel kernel, Feature... missing) {
        return Question.on(PROBES)
                .onHost(kernel.host())
                .withFeatures(ScriptedLoads.everything().without(missing))
                .withBuffer(1 << 16)
                .withMaxKeys(16);
    }

    private static FaultInjection faults(String name, Journey journey) {
        return new FaultInjection(name, journey)
                .naming(
                        "question.bpf.o",
                        "trace.bpf.o",
                        "db:begin and 1 more probe",
                        "on to ",
                        " in /db",
                        " at /db",
                        "records",
                        "events")
                .tolerating("loads again, with a log", ProgCommand.Load.class::isInstance)
                .tolerating("loads the BTF again, with a log", ProgCommand.LoadBtf.class::isInstance)
                .tolerating(
                        "makes the map without types",
                        QuestionFaultsTest::hasTypes,
                        Errno.EINVAL,
                        Errno.ENOTSUPP,
                        Errno.EOPNOTSUPP,
                        Errno.EACCES,
                        Errno.E2BIG)
                .tolerating("tools don't find the object's metadata", ProgCommand.BindMap.class::isInstance)
                .tolerating(
                        "does without batches",
                        MapCommand.Batch.class::isInstance,
                        Errno.EINVAL,
                        Errno.ENOTSUPP,
                        Errno.EOPNOTSUPP)
                .tolerating(
                        "a reader that is awake need not be woken",
                        call -> call instanceof FileCommand.Write || call instanceof FileCommand.Read);
    }

    /** Of a question that is attached by one link, where a kernel has such links. */
    private static FaultInjection byOneLink(FaultInjection faults) {
        return faults.tolerating(
                "attaches to single sites",
                LinkCommand.Create.class::isInstance,
                Errno.E2BIG,
                Errno.ENOSYS,
                Errno.EOPNOTSUPP);
    }

    private static boolean hasTypes(Command<?> call) {
        return call instanceof MapCommand.Create create
                && create.types().key() + create.types().value() > 0;
    }

    private static synchronized void add(Figures figures) {
        assertThat(figures.errors()).isGreaterThan(300);
        all = all.and(figures);
    }

    @AfterAll
    static void figures() {
        System.out.println("faults of questions: " + all);
    }

    /** What the program would count: a key, with a value for each CPU. */
    private static void count(Answer answer, long key, long each) {
        BpfMap table = answer.object.map("table");
        byte[] bytes = ByteBuffer.allocate(table.keySize())
                .order(ByteOrder.nativeOrder())
                .putLong(key)
                .array();
        TypedMap.perCpu(table, Codec.ofBytes(table.keySize()), ValueCodecs.ofLongs(table.valueSize() / Long.BYTES))
                .put(bytes, Collections.nCopies(POSSIBLE_CPUS, values(table.valueSize() / Long.BYTES, each)));
    }

    private static long[] values(int size, long first) {
        long[] values = new long[size];
        values[0] = first;
        return values;
    }

    @Test
    void aCountByKeys() {
        add(byOneLink(faults("a count", kernel -> {
                    try (Answer answer =
                            question(kernel).where("arg0 > 3").by("arg0").open()) {
                        count(answer, 7, 5);
                        count(answer, 8, 1);
                        return answer.rows() + ", " + answer.gaps() + ", " + answer.isExact() + ", " + answer.hints();
                    }
                }))
                .run());
    }

    @Test
    void aCountBySingleUprobes() {
        add(faults("a count by single uprobes", kernel -> {
                    try (Answer answer = question(kernel, Feature.UPROBE_MULTI_LINK)
                            .by("arg0")
                            .open()) {
                        count(answer, 7, 5);
                        return answer.rows() + ", " + answer.gaps();
                    }
                })
                .run());
    }

    @Test
    void aLatency() {
        add(byOneLink(faults("a latency", kernel -> {
                    try (Answer answer = question(kernel)
                            .latency("begin", "end")
                            .pairedBy("arg0")
                            .open()) {
                        return answer.rows() + ", " + answer.gaps() + ", " + answer.isExact();
                    }
                }))
                .run());
    }

    @Test
    void eventsThatAreShown() {
        add(byOneLink(faults("events with values", kernel -> {
                    kernel.wakeReaders();
                    try (Answer answer = question(kernel).show("arg0").open()) {
                        fire(kernel, answer);
                        List<String> seen = new ArrayList<>();
                        answer.poll(Duration.ofDays(1), event -> seen.add(event.probe() + " " + event.values()));
                        answer.poll(Duration.ofDays(1), event -> seen.add(event.probe())); // waits for a second one
                        answer.wakeup();
                        return seen + ", " + answer.gaps();
                    }
                }))
                .run());
    }

    /** A record in the ring buffer, as the program writes it: the first probe fired, and its argument is 42. */
    private static void fire(ScriptedKernel kernel, Answer answer) {
        int size = RECORD_BYTES + Long.BYTES;
        KernelMap ring = KernelMap.of(answer.object.map("records"));
        MemorySegment memory = kernel.memory(ring.fd(), PRODUCER_PAGE, RECORDS - PRODUCER_PAGE + HEADER_BYTES + size);
        long record = RECORDS - PRODUCER_PAGE;
        memory.set(ValueLayout.JAVA_INT, record, size);
        memory.set(ValueLayout.JAVA_LONG, record + HEADER_BYTES + Long.BYTES, 1); // the cookie
        memory.set(ValueLayout.JAVA_LONG, record + HEADER_BYTES + RECORD_BYTES, 42);
        memory.set(ValueLayout.JAVA_LONG, 0, HEADER_BYTES + size);
    }

    @Test
    void aStreamOfAllArguments() {
        add(byOneLink(faults("a stream of events", kernel -> {
                    kernel.wakeReaders();
                    try (EventStream events = question(kernel).openEvents()) {
                        List<String> seen = new ArrayList<>();
                        events.poll(Duration.ofDays(1), (_, probe) -> seen.add(probe.id()));
                        return seen + ", " + events.lost() + ", " + events.isExact();
                    }
                }))
                .run());
    }
}
