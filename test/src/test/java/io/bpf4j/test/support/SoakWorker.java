package io.bpf4j.test.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.usdt.AttachOptions;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * One of several threads that attach to the same programs through the same objects. Each round is an attachment of one
 * or two probes, chosen by chance, which succeeds and is closed in one way or another, or fails in one way or another.
 * <i>Confined.</i>
 */
public final class SoakWorker {
    /** PID_MAX_LIMIT of include/linux/threads.h: the numbers of processes are below it. */
    private static final int NO_SUCH_PROCESS = 0x400000;

    /** How a round is meant to go, and how it can go because of what others do at the time. */
    public enum Fate {
        CLOSED,
        CLOSED_TWICE,
        CLOSED_IN_BACKGROUND,
        CLOSED_AFTER_ITS_OBJECT,
        SITE_BEYOND_THE_FILE,
        REFUSED_INSTRUCTION,
        NO_PROCESS,
        TOO_MANY_SITES,
        /** Others have taken what there was of spec IDs. */
        FULL,
        /** Another thread is attached there, and the address can have one spec only. */
        TAKEN;

        /** In hundredths; the others are nobody's intention. */
        private int share() {
            return switch (this) {
                case CLOSED -> 40;
                case CLOSED_TWICE -> 12;
                case CLOSED_IN_BACKGROUND -> 12;
                case CLOSED_AFTER_ITS_OBJECT -> 4;
                case SITE_BEYOND_THE_FILE, REFUSED_INSTRUCTION, NO_PROCESS, TOO_MANY_SITES -> 8;
                case FULL, TAKEN -> 0;
            };
        }
    }

    /** What a thread attaches with: an object loaded for a strategy, and how much its maps have room for. */
    public record Setting(Strategy strategy, Room room, BpfObject object) {
        /** The maps that something else than the kernel can fill. */
        public enum Room {
            USUAL,
            FEW_SPECS,
            FEW_ADDRESSES
        }

        /** Loads it. */
        public static Setting load(Strategy strategy, Room room) {
            return new Setting(
                    strategy,
                    room,
                    strategy.loader("counters.bpf.o", 0)
                            .map("__bpf_usdt_specs", map -> room == Room.FEW_SPECS ? map.withMaxEntries(12) : map)
                            .map(
                                    "__bpf_usdt_ip_to_spec_id",
                                    map -> room == Room.FEW_ADDRESSES ? map.withMaxEntries(4) : map)
                            .load());
        }

        Program program() {
            return object.program("count");
        }
    }

    private final Random random;
    private final int cookie;
    private final List<TargetProgram> targets;
    private final List<Setting> settings;
    private final List<UsdtProbe> probes;
    private final UsdtProbe refused;
    private final UsdtProbe many;
    private final Map<Fate, Integer> fates = new EnumMap<>(Fate.class);

    /**
     * A worker.
     *
     * @param number its own, for its chances and its cookie
     * @param targets programs of {@code -DROUNDS=1} that have loaded the library of {@code -DREFUSED}
     * @param settings for each thread of its strategies the same
     */
    public SoakWorker(long seed, int number, List<TargetProgram> targets, List<Setting> settings) throws IOException {
        this.random = new Random(seed + number);
        this.cookie = number + 1;
        this.targets = targets;
        this.settings = settings;
        List<UsdtProbe> all =
                new ArrayList<>(UsdtScan.ofProcess(targets.getFirst().pid())
                        .matching("target:*")
                        .probes());
        all.addAll(UsdtScan.ofProcess(targets.getFirst().pid())
                .matching("library:*")
                .probes());
        this.refused = named(all, "refused");
        this.many = named(all, "many");
        this.probes = List.of(
                named(all, "guarded"),
                named(all, "lonely"),
                named(all, "text"),
                named(all, "called"),
                named(all, "watched"));
    }

    private static UsdtProbe named(List<UsdtProbe> all, String name) {
        return all.stream().filter(p -> p.name().equals(name)).findFirst().orElseThrow();
    }

    /** How often what happened. */
    public Map<Fate, Integer> fates() {
        return fates;
    }

    /** One attachment, from its beginning to its end. */
    public void round() throws IOException, InterruptedException {
        Fate fate = intended();
        fates.merge(happened(fate), 1, Integer::sum);
    }

    private Fate intended() {
        int at = random.nextInt(100);
        for (Fate fate : Fate.values()) {
            at -= fate.share();
            if (at < 0) {
                return fate;
            }
        }
        throw new AssertionError("shares are no hundred");
    }

    private Fate happened(Fate fate) throws IOException, InterruptedException {
        TargetProgram target = targets.get(random.nextInt(targets.size()));
        Setting setting = setting(fate);
        AttachOptions options = AttachOptions.defaults().withPid(target.pid()).withCookie(cookie);
        List<UsdtProbe> some = new ArrayList<>(probes);
        Collections.shuffle(some, random);
        some = new ArrayList<>(some.subList(0, 1 + random.nextInt(2)));
        switch (fate) {
            case CLOSED, CLOSED_TWICE, CLOSED_IN_BACKGROUND -> {
                return attached(fate, setting, target, some, options);
            }
            case CLOSED_AFTER_ITS_OBJECT -> closedAfterItsObject(setting, some, options);
            case SITE_BEYOND_THE_FILE -> {
                UsdtProbe good = some.removeLast();
                some.add(withSiteBeyondTheFile(good));
                assertFails(setting, some, options);
            }
            case REFUSED_INSTRUCTION -> {
                some.add(refused);
                assertFails(setting, some, options);
            }
            case NO_PROCESS -> assertFails(setting, some, options.withPid(NO_SUCH_PROCESS));
            case TOO_MANY_SITES -> {
                some.add(many);
                assertFails(setting, some, options);
            }
            case FULL, TAKEN -> throw new AssertionError("nobody's intention");
        }
        return fate;
    }

    /** Mostly multi links: each site of the others makes the kernel wait a tenth of a second, one after the other. */
    private Setting setting(Fate fate) {
        boolean multi = random.nextInt(100) < 80;
        List<Setting> fitting = settings.stream()
                .filter(s -> fate != Fate.TOO_MANY_SITES || s.room() != Setting.Room.USUAL)
                .filter(s -> fate != Fate.TOO_MANY_SITES
                        || s.room() != Setting.Room.FEW_ADDRESSES
                        || s.strategy() == Strategy.IP_MAP)
                .toList();
        List<Setting> preferred = fitting.stream()
                .filter(s -> (s.strategy() == Strategy.MULTI) == multi)
                .toList();
        List<Setting> from = preferred.isEmpty() ? fitting : preferred;
        return from.get(random.nextInt(from.size()));
    }

    private Fate attached(Fate fate, Setting setting, TargetProgram target, List<UsdtProbe> some, AttachOptions options)
            throws IOException, InterruptedException {
        UsdtLink link;
        try {
            link = Usdt.of(setting.object()).attach(setting.program(), some, options);
        } catch (UsdtException e) {
            String message = String.valueOf(e.getMessage());
            if (message.contains("is full") && setting.room() != Setting.Room.USUAL) {
                return Fate.FULL;
            }
            if (message.contains("already attached at this address") && setting.strategy() == Strategy.IP_MAP) {
                return Fate.TAKEN;
            }
            throw e;
        }
        try {
            assertThat(link.strategy().name()).isEqualTo(setting.strategy().name());
            assertFires(setting, target, some.size());
        } finally {
            switch (fate) {
                case CLOSED_IN_BACKGROUND -> {
                    assertThat(link.closeAsync()).succeedsWithin(Duration.ofMinutes(5));
                    assertThat(link.closeAsync().left()).isZero();
                }
                case CLOSED_TWICE -> {
                    link.close();
                    link.close();
                }
                default -> link.close();
            }
        }
        assertFires(setting, target, 0);
        return fate;
    }

    /** Only this thread's link has this cookie, and nobody else makes the target fire meanwhile: the count is exact. */
    private void assertFires(Setting setting, TargetProgram target, int times) throws IOException {
        synchronized (target) {
            long before = count(setting);
            target.command("guarded");
            target.command("text soak");
            target.command("library " + random.nextInt(1000));
            assertThat(count(setting) - before).isEqualTo(times);
        }
    }

    private long count(Setting setting) {
        return Bpf.element(setting.object().map("counts"), cookie).getLong();
    }

    private static void closedAfterItsObject(Setting like, List<UsdtProbe> some, AttachOptions options) {
        Setting own = Setting.load(like.strategy(), Setting.Room.USUAL);
        Usdt usdt = Usdt.of(own.object());
        Program program = own.program();
        try (UsdtLink link = usdt.attach(program, some, options)) {
            own.object().close();
            assertThat(link.isClosed()).isFalse();
            assertThatThrownBy(() -> usdt.attach(program, some, options)).hasMessageContaining("closed");
        } finally {
            own.object().close();
        }
        assertThat(usdt.specIdsInUse()).isZero();
    }

    private static void assertFails(Setting setting, List<UsdtProbe> probes, AttachOptions options) {
        assertThatThrownBy(() -> Usdt.of(setting.object()).attach(setting.program(), probes, options))
                .isInstanceOf(UsdtException.class);
    }

    private static UsdtProbe withSiteBeyondTheFile(UsdtProbe probe) {
        UsdtSite good = probe.sites().getFirst();
        long far = 0x10000000;
        List<UsdtSite> sites = new ArrayList<>(probe.sites());
        sites.add(UsdtSite.at(good.address() + far, far));
        return UsdtProbe.of(probe.binary(), probe.provider(), probe.name(), sites);
    }
}
