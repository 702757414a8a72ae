package io.bpf4j.test.usdt;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.SoakWorker;
import io.bpf4j.test.support.SoakWorker.Fate;
import io.bpf4j.test.support.SoakWorker.Setting;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.usdt.AttachOptions;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Attach and detach by chance, from many threads, over all strategies and failures, and then look at what is left: no
 * descriptor, no entry of a map, no spec ID, no semaphore.
 *
 * <p>The kernel's waits are what takes the time, hence the threads. {@code -Dbpf4j.soak.rounds=10000} is the long form
 * ({@code CONTRIBUTING.md}); {@code -Dbpf4j.test.seed=…} makes other choices. Threads meet otherwise in every run.
 */
@Requires({BPF, GCC, SDT_H, ASSEMBLER})
@ExtendWith(LeakCheck.class)
class UsdtSoakTest extends UsdtSuite {
    private static final int ROUNDS = Integer.getInteger("bpf4j.soak.rounds", 500);
    private static final long SEED = Long.getLong("bpf4j.test.seed", 20261122);
    private static final int THREADS = 16;
    private static final int TARGETS = 4;

    UsdtSoakTest() {
        super(Strategy.IP_MAP);
    }

    @Test
    void roundsOfEveryKindLeaveNothingBehind() throws IOException, InterruptedException, ExecutionException {
        System.out.println("soak: " + ROUNDS + " rounds with -Dbpf4j.test.seed=" + SEED);
        List<TargetProgram> targets = new ArrayList<>();
        List<Setting> settings = new ArrayList<>();
        try {
            for (int i = 0; i < TARGETS; i++) {
                targets.add(TargetProgram.start("-O2", "-DROUNDS=1"));
                loadLibrary(targets.getLast(), "-DREFUSED");
            }
            for (Strategy each : Strategy.values()) {
                if (each.isSupported()) {
                    for (Setting.Room room : Setting.Room.values()) {
                        settings.add(Setting.load(each, room));
                    }
                }
            }
            assertAttaches(settings, targets); // also loads the classes of all paths, with the files they hold open
            Map<String, Integer> open = LeakCheck.open();
            long begin = System.nanoTime();
            Map<Fate, Integer> fates = soak(targets, settings);
            Duration took = Duration.ofNanos(System.nanoTime() - begin);

            LeakCheck.assertNothingMoreOpenThan(open);
            for (Setting setting : settings) {
                assertNothingLeft(setting.object());
            }
            for (TargetProgram target : targets) {
                assertThat(target.command("semaphores")).isEqualTo("0 0");
                assertThat(target.command("library 1")).isEqualTo("0");
            }
            assertAttaches(settings, targets);
            System.out.println("soak: "
                    + settings.stream().map(Setting::strategy).distinct().toList() + " " + fates + " in "
                    + took.toSeconds() + " s");
            assertThat(fates.values().stream().mapToInt(Integer::intValue).sum())
                    .isEqualTo(ROUNDS);
        } finally {
            settings.stream().map(Setting::object).forEach(BpfObject::close);
            targets.forEach(TargetProgram::close);
        }
    }

    private static Map<Fate, Integer> soak(List<TargetProgram> targets, List<Setting> settings)
            throws IOException, InterruptedException, ExecutionException {
        AtomicInteger left = new AtomicInteger(ROUNDS);
        List<SoakWorker> workers = new ArrayList<>();
        List<Future<?>> ends = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            for (int i = 0; i < THREADS; i++) {
                SoakWorker worker = new SoakWorker(SEED, i, targets, settings);
                workers.add(worker);
                ends.add(threads.submit(() -> {
                    try {
                        while (left.getAndDecrement() > 0) {
                            worker.round();
                        }
                    } catch (Exception | AssertionError e) {
                        left.set(0);
                        throw new AssertionError("with -Dbpf4j.test.seed=" + SEED, e);
                    }
                    return null;
                }));
            }
        }
        for (Future<?> end : ends) {
            end.get();
        }
        Map<Fate, Integer> all = new EnumMap<>(Fate.class);
        workers.forEach(worker -> worker.fates().forEach((fate, count) -> all.merge(fate, count, Integer::sum)));
        return all;
    }

    /** Every object can still do, or for the first time does, what objects are for. */
    private static void assertAttaches(List<Setting> settings, List<TargetProgram> targets) throws IOException {
        TargetProgram target = targets.getFirst();
        for (Setting setting : settings) {
            long before = total(setting.object());
            AttachOptions options = in(target);
            try (UsdtLink link = Usdt.of(setting.object())
                    .attach(
                            setting.object().program("count"),
                            UsdtScan.ofFile(target.path()).matching("target:guarded"),
                            options)) {
                assertThat(link.strategy().name()).isEqualTo(setting.strategy().name());
                assertThat(target.command("guarded")).isEqualTo("1");
                assertThat(total(setting.object())).isEqualTo(before + 1);
            }
        }
    }
}
