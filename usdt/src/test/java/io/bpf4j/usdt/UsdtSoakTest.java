package io.bpf4j.usdt;

import static io.bpf4j.usdt.ScriptedUsdt.addresses;
import static io.bpf4j.usdt.ScriptedUsdt.load;
import static io.bpf4j.usdt.ScriptedUsdt.probeAt;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.sys.internal.call.Command;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.PerfCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.usdt.site.UsdtSite;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Ten thousand rounds of attaching and detaching, of which each may fail at any system call of any kind: after each,
 * the entries of the maps are those of the links that are open, and in the end nothing is. A real kernel doesn't fail
 * on demand; what it adds is in the module {@code test}, in a soak of the same name.
 */
class UsdtSoakTest {
    private static final int ROUNDS = 10_000;
    /** Fewer than the probes of many links together need. */
    private static final int SPECS = 12;

    private static final List<Predicate<Command<?>>> STEPS = List.of(
            FileCommand.OpenRegular.class::isInstance,
            FileCommand.Identify.class::isInstance,
            LinkCommand.Create.class::isInstance,
            PerfCommand.Open.class::isInstance,
            PerfCommand.Enable.class::isInstance,
            // Not deletions: those are how a failure is undone.
            c -> c instanceof MapCommand.Element element && element.op() == MapCommand.Op.UPDATE);

    private static final List<Errno> ERRORS =
            List.of(Errno.EINVAL, Errno.EACCES, Errno.EMFILE, Errno.ENOMEM, Errno.ESRCH, Errno.E2BIG, Errno.EOPNOTSUPP);

    /**
     * Each of a spec of its own, also in a layout without index registers, for which one argument of two can't be read.
     */
    private static final List<String> ARGUMENTS = List.of(
            "8@%rax", "-4@$7", "8@%rdi -1@%cl", "4@-20(%rbp)", "8@8(%rax,%rbx,4)", "8f@%xmm0 8@%rax", "", "2@%dx");

    private final Random random = RunSeed.random();
    private final ScriptedKernel kernel = new ScriptedKernel();
    private @Nullable Predicate<Command<?>> step;
    private @Nullable Errno error;
    private int passes;

    /** The links of one object with their cookies, and what they should hold. */
    private record Attached(BpfObject object, Map<UsdtLink, Integer> links) {
        /** Equal arguments with equal cookies are one spec, whichever links they are of. */
        long specs() {
            return links.entrySet().stream()
                    .flatMap(link -> sites(link.getKey()).map(site -> site.arguments() + " " + link.getValue()))
                    .distinct()
                    .count();
        }

        /** Links that share an address share its entry. */
        long addresses() {
            return links.keySet().stream()
                    .filter(link -> link.strategy() == AttachStrategy.IP_MAP)
                    .flatMap(link -> sites(link).map(UsdtSite::address))
                    .distinct()
                    .count();
        }

        private static Stream<UsdtSite> sites(UsdtLink link) {
            return link.probes().stream().flatMap(probe -> probe.sites().stream());
        }
    }

    @Test
    void roundsThatFailAnywhereLeaveNothingBehind() {
        for (Errno each : ERRORS) {
            kernel.fail(command -> isNow(command, each), each);
        }
        List<Attached> all = List.of(
                new Attached(load(kernel, SPECS), new LinkedHashMap<>()),
                new Attached(load(kernel, SPECS, Feature.UPROBE_MULTI_LINK), new LinkedHashMap<>()),
                new Attached(
                        load(kernel, SPECS, Feature.UPROBE_MULTI_LINK, Feature.BPF_COOKIE), new LinkedHashMap<>()));
        int[] outcomes = new int[2];
        for (int round = 0; round < ROUNDS; round++) {
            Attached one = all.get(random.nextInt(all.size()));
            if (one.links().size() < 4 && random.nextInt(3) > 0) {
                outcomes[attach(one) ? 0 : 1]++;
            } else if (!one.links().isEmpty()) {
                UsdtLink link = List.copyOf(one.links().keySet())
                        .get(random.nextInt(one.links().size()));
                one.links().remove(link);
                link.close();
            }
            assertThat(Usdt.of(one.object()).specIdsInUse()).as(seed(round)).isEqualTo((int) one.specs());
            assertThat(addresses(one.object())).as(seed(round)).hasSize((int) one.addresses());
            kernel.clearCommands();
        }
        System.out.println("soak: " + outcomes[0] + " attached, " + outcomes[1] + " failed");
        assertThat(outcomes[0]).isGreaterThan(1000);
        assertThat(outcomes[1]).isGreaterThan(1000);

        for (Attached one : all) {
            one.links().keySet().forEach(UsdtLink::close);
            assertThat(Usdt.of(one.object()).specIdsInUse()).as(seed(ROUNDS)).isZero();
            assertThat(addresses(one.object())).as(seed(ROUNDS)).isEmpty();
        }
        assertThat(kernel.open())
                .as(seed(ROUNDS))
                .allMatch(what -> what.startsWith("map ") || what.startsWith("program ") || what.startsWith("BTF"));
        all.forEach(one -> one.object().close());
        assertThat(kernel.open()).as(seed(ROUNDS)).isEmpty();
    }

    private static String seed(int round) {
        return "round " + round + " with -Dbpf4j.test.seed=" + RunSeed.VALUE;
    }

    /** Whether it attached. Of five attempts, three fail if they come as far as they are meant to fail at. */
    private boolean attach(Attached to) {
        if (random.nextInt(5) < 3) {
            step = STEPS.get(random.nextInt(STEPS.size()));
            error = ERRORS.get(random.nextInt(ERRORS.size()));
            passes = random.nextInt(5);
        }
        List<UsdtProbe> probes = new ArrayList<>();
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            String[] arguments = random.ints(1 + random.nextInt(4), 0, ARGUMENTS.size())
                    .mapToObj(ARGUMENTS::get)
                    .toArray(String[]::new);
            long offset = 0x1000 + 16L * random.nextInt(64);
            probes.add(probeAt(offset, random.nextBoolean() ? "/a" : "/b", "probe" + i, arguments));
        }
        int cookie = random.nextInt(2);
        AttachOptions options = AttachOptions.defaults().withCookie(cookie).withStrict(random.nextInt(8) == 0);
        try {
            to.links().put(Usdt.of(to.object()).attach(to.object().program("on"), probes, options), cookie);
            return true;
        } catch (UsdtException e) {
            return false;
        } finally {
            step = null;
        }
    }

    /** The one command that fails. */
    private boolean isNow(Command<?> command, Errno errno) {
        if (step == null || error != errno || !step.test(command) || passes-- > 0) {
            return false;
        }
        step = null;
        return true;
    }
}
