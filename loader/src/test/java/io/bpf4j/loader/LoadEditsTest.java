package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.UnknownNameException;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.KernelVersion;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is said of maps and programs before the load, and what reaches the kernel of it. */
class LoadEditsTest {
    private final ScriptedKernel kernel = new ScriptedKernel();

    private BpfLoader loader(String object) {
        return ScriptedLoads.loader(kernel, ScriptedLoads.spec(object));
    }

    private ProgCommand.Load loaded(String program) {
        return kernel.commands(ProgCommand.Load.class).stream()
                .filter(load -> load.name().equals(program))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aProgramLosesItsAttachType() {
        try (BpfObject _ = loader("edits.bpf.o")
                .program(
                        "guarded",
                        program -> program.withAttachType(AttachType.CGROUP_INET_EGRESS)
                                .withoutAttachType())
                .load()) {
            assertThat(loaded("guarded").attachment().type()).isZero();
        }
    }

    @Test
    void everyFieldOfAProgramReachesTheCall() {
        try (BpfObject _ = loader("edits.bpf.o")
                .program(
                        "guarded",
                        program -> program.withType(ProgramType.CGROUP_SKB)
                                .withAttachType(AttachType.CGROUP_INET_EGRESS)
                                .withFlags(ProgramSpec.F_ANY_ALIGNMENT)
                                .withIfindex(7))
                .kernelVersion(new KernelVersion(4, 19, 304))
                .load()) {
            ProgCommand.Load load = loaded("guarded");
            assertThat(load.type()).isEqualTo(ProgramType.CGROUP_SKB.number());
            assertThat(load.attachment().type()).isEqualTo(AttachType.CGROUP_INET_EGRESS.number());
            assertThat(load.flags()).isEqualTo(ProgramSpec.F_ANY_ALIGNMENT);
            assertThat(load.ifindex()).isEqualTo(7);
            assertThat(load.kernelVersion()).isEqualTo(0x0413ff);
        }
    }

    @Test
    void editsAddUp() {
        BpfLoader loader = loader("edits.bpf.o")
                .program("guarded", program -> program.withIfindex(7))
                .program("guarded", program -> program.withFlags(ProgramSpec.F_XDP_DEV_BOUND_ONLY));
        try (BpfObject _ = loader.load()) {
            assertThat(loaded("guarded").ifindex()).isEqualTo(7);
            assertThat(loaded("guarded").flags()).isEqualTo(ProgramSpec.F_XDP_DEV_BOUND_ONLY);
        }
    }

    @Test
    void aTypeOfOnesOwnMakesTheSectionSayNothing() {
        ProgramSpec program = ScriptedLoads.spec("edits.bpf.o").program("on_event");
        assertThat(program.withType(ProgramType.RAW_TRACEPOINT)).isEqualTo(program);
        assertThat(program.withType(ProgramType.TRACING).kind()).isEmpty();
    }

    @Test
    void anotherSectionSaysEverythingAnew() {
        ProgramSpec program =
                ScriptedLoads.spec("edits.bpf.o").program("on_event").withSection("fentry.s/tcp_connect");
        assertThat(program.type()).isEqualTo(ProgramType.TRACING);
        assertThat(program.attachType()).contains(AttachType.TRACE_FENTRY);
        assertThat(program.isSleepable()).isTrue();
        assertThat(program.target()).isEqualTo("tcp_connect");
        assertThat(program.autoload()).isTrue();
        assertThat(program.withSection("?xdp.frags").autoload()).isFalse();
        assertThat(program.withSection("?xdp.frags").flags()).isEqualTo(ProgramSpec.F_XDP_HAS_FRAGS);
    }

    @Test
    void aProgramKeepsItsName() {
        ProgramSpec other = ScriptedLoads.spec("edits.bpf.o").program("on_event");
        assertThatThrownBy(() -> loader("edits.bpf.o").program("guarded", _ -> other))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("program \"guarded\" can't be renamed to \"on_event\"");
        assertThatThrownBy(() -> loader("edits.bpf.o").program("nobody", program -> program))
                .isInstanceOf(UnknownNameException.class)
                .hasMessageContaining("no program 'nobody' in edits.bpf.o; there are ");
        assertThatThrownBy(() -> loader("edits.bpf.o").instructions("nobody", code -> code))
                .isInstanceOf(UnknownNameException.class)
                .hasMessageContaining("no program 'nobody' in edits.bpf.o; there are ");
    }

    @Test
    void aMapInADeviceIsMadeThere() {
        try (BpfObject _ =
                loader("edits.bpf.o").map("extra", map -> map.withIfindex(9)).load()) {
            assertThat(kernel.commands(MapCommand.Create.class))
                    .filteredOn(create -> create.name().equals("extra"))
                    .singleElement()
                    .satisfies(create -> assertThat(create.ifindex()).isEqualTo(9));
        }
    }

    @Test
    void aMapThatIsLeftOutIsNoCallAtAll() {
        try (BpfObject object = loader("edits.bpf.o")
                .map("extra", map -> map.withAutocreate(false))
                .load()) {
            assertThat(kernel.commands(MapCommand.Create.class))
                    .noneMatch(create -> create.name().equals("extra"));
            assertThat(object.maps()).hasSize(object.spec().maps().size() - 1);
            assertThatThrownBy(() -> object.map("extra"))
                    .isInstanceOf(UnknownNameException.class)
                    .hasMessageContaining("no map 'extra' in edits.bpf.o as loaded (it was left out); ");
        }
    }

    @Test
    void aMapOfOnesOwnIsUsedEvenIfTheObjectsIsLeftOut() {
        try (BpfObject owner = loader("edits.bpf.o").load();
                BpfObject user = loader("edits.bpf.o")
                        .map("extra", map -> map.withAutocreate(false))
                        .reuseMap("extra", owner.map("extra"))
                        .load()) {
            assertThat(user.map("extra")).isSameAs(owner.map("extra"));
        }
    }

    @Test
    void aVariableInAMapThatIsLeftOutCantBeSet() {
        BpfLoader loader =
                loader("edits.bpf.o").global("use_extra", true).map(".rodata", map -> map.withAutocreate(false));
        assertThatThrownBy(loader::load)
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("global variable \"use_extra\" is in \".rodata\", which is left out");
    }

    @Test
    void aMapCantHoldOneThatIsLeftOut() {
        ObjectSpec spec = ScriptedLoads.spec("forms.bpf.o");
        MapSpec holder = spec.maps().stream()
                .filter(map -> !map.slots().isEmpty() && !map.is(MapType.PROG_ARRAY))
                .findFirst()
                .orElseThrow();
        String held = holder.slots().getFirst().target();
        BpfLoader loader = ScriptedLoads.loader(kernel, spec).map(held, map -> map.withAutocreate(false));
        assertThatThrownBy(loader::load)
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("map \"" + holder.name() + "\" contains \"" + held + "\", which was left out");

        // Without its slots, or left out itself, it is not an obstacle.
        try (BpfObject object = ScriptedLoads.loader(new ScriptedKernel(), spec)
                .map(held, map -> map.withAutocreate(false))
                .map(holder.name(), map -> map.withSlots(List.of()))
                .load()) {
            assertThat(object.findMap(held)).isEmpty();
        }
    }
}
