package io.bpf4j.loader.internal.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.BtfType.Member;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.loader.ScriptedLoads;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.plan.AttachPoint;
import io.bpf4j.loader.internal.plan.LoadOptions;
import io.bpf4j.loader.internal.plan.LoadPlan;
import io.bpf4j.loader.internal.plan.ProgramPlan;
import io.bpf4j.loader.internal.plan.StructOpsImage;
import io.bpf4j.loader.internal.plan.TargetKernel;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.StructOpsSpec;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The congestion controls of an object, for a kernel in which these are a module's: "net" is another, "tcp" has them.
 */
class StructOpsOfModuleTest {
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final ModulesOfKernel loaded = new ModulesOfKernel(kernel, "net", "tcp");
    private final ModuleDescriptors modules = new ModuleDescriptors(kernel);
    private final BtfBuilder kernels = BtfBuilder.create();
    private final int number = kernels.integer("unsigned int", 4, 0);
    private final int function = kernels.pointer(kernels.add(new BtfType.FuncProto(number, List.of())));
    private final int text = kernels.array(kernels.integer("char", 1, 0), number, 16);

    private final ObjectSpec spec = ScriptedLoads.spec("struct_ops.bpf.o");
    private final StructOpsSpec first = spec.structOps().stream()
            .filter(each -> each.name().equals("first"))
            .findFirst()
            .orElseThrow()
            .withAutocreate(true);

    private int congestionOps(BtfBuilder types) {
        return types.struct(
                "tcp_congestion_ops",
                64,
                Member.at("ssthresh", function, 0),
                Member.at("undo_cwnd", function, 8),
                Member.at("cong_avoid", function, 16),
                Member.at("init", function, 24),
                Member.at("release", function, 32),
                Member.at("name", text, 40));
    }

    private static void wrapper(BtfBuilder types, int ops) {
        types.struct("bpf_struct_ops_tcp_congestion_ops", 128, Member.at("data", ops, 64));
    }

    private static Btf module(String name, BtfBuilder types) {
        return types.build("/sys/kernel/btf/" + name, ORDER);
    }

    private CoreTarget target(Btf vmlinux, BtfBuilder tcp) {
        BtfBuilder net = BtfBuilder.split(vmlinux);
        net.struct("net_thing", 4, Member.at("number", number, 0));
        return CoreTarget.of(vmlinux, () -> List.of(module("net", net), module("tcp", tcp)));
    }

    private List<StructOpsImage> images(CoreTarget target) {
        LoadPlan plan = plan(target);
        plan.requireNoProblems();
        return plan.structOps();
    }

    /** Of the struct and the programs that it calls. */
    private LoadPlan plan(CoreTarget target) {
        return LoadPlan.of(
                spec.withStructOps(Map.of("first", first)), new LoadOptions(), TargetKernel.ofTypes(target, null));
    }

    private static AttachPoint point(LoadPlan plan, String program) {
        return plan.programs().stream()
                .filter(each -> each.name().equals(program))
                .findFirst()
                .flatMap(ProgramPlan::point)
                .orElseThrow();
    }

    private KernelMap create(StructOpsImage image) {
        try (Fd btf = kernel.newFd("BTF of the object")) {
            return new MapCreation(kernel.host(), ScriptedLoads.everything(), "test.o", btf)
                    .create(image, image.module().isEmpty() ? null : modules.of(image.module()));
        }
    }

    @AfterEach
    void nothingStaysOpen() {
        modules.close();
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void mapAndProgramsNameTheModule() {
        Btf vmlinux = kernels.build("/sys/kernel/btf/vmlinux", ORDER);
        BtfBuilder tcp = BtfBuilder.split(vmlinux);
        wrapper(tcp, congestionOps(tcp));
        CoreTarget target = target(vmlinux, tcp);
        Btf ofModule = target.modules().getLast();

        create(images(target).getFirst()).close();
        AttachPoint point = point(plan(target), "first_avoid");

        MapCommand.Create create = kernel.commands(MapCommand.Create.class).getLast();
        assertThat(create.types().kernelValue())
                .isEqualTo(ofModule.find("bpf_struct_ops_tcp_congestion_ops", BtfKind.STRUCT)
                        .orElseThrow());
        assertThat(create.types().module()).asString().contains("BTF of tcp");
        assertThat(create.flags()).isEqualTo(MapSpec.F_LINK);
        assertThat(create.valueSize()).isEqualTo(128);
        assertThat(create.types().module()).isSameAs(loaded.fd("tcp"));
        assertThat(point.module()).isEqualTo("tcp");
        assertThat(point.btfId())
                .isEqualTo(ofModule.find("tcp_congestion_ops", BtfKind.STRUCT).orElseThrow());
        assertThat(point.member()).hasValue(2);
    }

    @Test
    void aModuleMayOfferAStructOfTheKernelsOwn() {
        int ops = congestionOps(kernels);
        Btf vmlinux = kernels.build("/sys/kernel/btf/vmlinux", ORDER);
        BtfBuilder tcp = BtfBuilder.split(vmlinux);
        wrapper(tcp, ops);
        CoreTarget target = target(vmlinux, tcp);

        AttachPoint point = point(plan(target), "on_init");
        assertThat(point.btfId()).isEqualTo(ops);
        assertThat(point.module()).isEqualTo("tcp");
    }

    @Test
    void theKernelsOwnComesFirst() {
        wrapper(kernels, congestionOps(kernels));
        Btf vmlinux = kernels.build("/sys/kernel/btf/vmlinux", ORDER);
        BtfBuilder tcp = BtfBuilder.split(vmlinux);
        wrapper(tcp, congestionOps(tcp));
        CoreTarget target = target(vmlinux, tcp);

        create(images(target).getFirst()).close();
        assertThat(kernel.commands(MapCommand.Create.class).getLast().types().module())
                .isNull();
        assertThat(point(plan(target), "on_init").module()).isEmpty();
        assertThat(kernel.commands(ObjectCommand.FdById.class)).isEmpty();
    }

    @Test
    void aKernelThatTakesNoneOfModulesIsExplained() {
        Btf vmlinux = kernels.build("/sys/kernel/btf/vmlinux", ORDER);
        BtfBuilder tcp = BtfBuilder.split(vmlinux);
        wrapper(tcp, congestionOps(tcp));
        CoreTarget target = target(vmlinux, tcp);
        StructOpsImage image = images(target).getFirst();
        for (Errno errno : List.of(Errno.EINVAL, Errno.E2BIG)) {
            kernel.fail(MapCommand.Create.class, errno);
            assertThatThrownBy(() -> create(image))
                    .isInstanceOf(InvalidObjectException.class)
                    .hasMessageContaining("\"first\"")
                    .hasMessageContaining("module \"tcp\"")
                    .hasMessageContaining("Linux 6.9");
        }
    }

    @Test
    void whereItWasSearchedIsSaid() {
        Btf vmlinux = kernels.build("/sys/kernel/btf/vmlinux", ORDER);
        CoreTarget target = target(vmlinux, BtfBuilder.split(vmlinux));
        assertThatThrownBy(() -> images(target))
                .isInstanceOf(RelocationException.class)
                .hasMessageContaining(
                        "this kernel has no struct tcp_congestion_ops, nor has any of its modules: net, tcp");
        BtfBuilder tcp = BtfBuilder.split(vmlinux);
        congestionOps(tcp);
        CoreTarget without = target(vmlinux, tcp);
        assertThatThrownBy(() -> images(without))
                .isInstanceOf(RelocationException.class)
                .hasMessageContaining("can't be implemented by programs");
    }
}
