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
import io.bpf4j.loader.internal.sys.BtfInfo;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.MapCommand;
import io.bpf4j.loader.internal.sys.ObjectCommand;
import io.bpf4j.loader.internal.sys.ScriptedKernel;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.StructOpsSpec;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The congestion controls of an object, for a kernel in which these are a module's: "net" is another, "tcp" has them. */
class StructOpsOfModuleTest {
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final List<String> LOADED = List.of("vmlinux", "net", "tcp");

    private final ScriptedKernel kernel = new ScriptedKernel();
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

    /** A kernel with a BTF of its own and one for each of two modules, and nothing else that has an id. */
    private KernelModules modules(CoreTarget target) {
        Map<Fd, String> names = new HashMap<>();
        kernel.answer(
                ObjectCommand.NextId.class,
                next -> next.after() < LOADED.size() ? OptionalInt.of(next.after() + 1) : OptionalInt.empty());
        kernel.answer(ObjectCommand.FdById.class, byId -> {
            String name = LOADED.get(byId.id() - 1);
            Fd fd = kernel.newFd("BTF of " + name);
            names.put(fd, name);
            return fd;
        });
        kernel.answer(
                ObjectCommand.InfoOfBtf.class,
                of -> new BtfInfo(1, Objects.requireNonNull(names.get(of.btf())), true, new byte[0]));
        return new KernelModules(kernel, () -> target);
    }

    private StructOpsImages images(CoreTarget target, KernelModules modules) {
        StructOpsImages images = new StructOpsImages(spec, Map.of("first", first));
        images.find(() -> target, modules);
        return images;
    }

    private KernelMap create(StructOpsImage image, KernelModules modules) {
        try (Fd btf = kernel.newFd("BTF of the object")) {
            return new MapCreation(kernel.host(), ScriptedLoads.everything(), "test.o", "test", btf)
                    .create(image, image.module().map(modules::descriptor).orElse(null));
        }
    }

    @AfterEach
    void nothingStaysOpen() {
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void mapAndProgramsNameTheModule() {
        Btf vmlinux = kernels.build("/sys/kernel/btf/vmlinux", ORDER);
        BtfBuilder tcp = BtfBuilder.split(vmlinux);
        wrapper(tcp, congestionOps(tcp));
        CoreTarget target = target(vmlinux, tcp);
        Btf ofModule = target.modules().getLast();
        KernelModules modules = modules(target);

        StructOpsImages images = images(target, modules);
        create(Objects.requireNonNull(images.byName().get("first")), modules).close();
        AttachPoint point = images.point(spec.program("first_avoid").orElseThrow(), modules);

        MapCommand.Create create = kernel.commands(MapCommand.Create.class).getLast();
        assertThat(create.kernelValueTypeId())
                .isEqualTo(ofModule.find("bpf_struct_ops_tcp_congestion_ops", BtfKind.STRUCT)
                        .orElseThrow());
        assertThat(create.kernelValueBtf()).asString().contains("BTF of tcp");
        assertThat(create.flags()).isEqualTo(MapSpec.F_LINK);
        assertThat(create.valueSize()).isEqualTo(128);
        assertThat(point.program()).isSameAs(create.kernelValueBtf());
        assertThat(point.btfId())
                .isEqualTo(ofModule.find("tcp_congestion_ops", BtfKind.STRUCT).orElseThrow());
        assertThat(point.member()).hasValue(2);
        modules.close();
    }

    @Test
    void aModuleMayOfferAStructOfTheKernelsOwn() {
        int ops = congestionOps(kernels);
        Btf vmlinux = kernels.build("/sys/kernel/btf/vmlinux", ORDER);
        BtfBuilder tcp = BtfBuilder.split(vmlinux);
        wrapper(tcp, ops);
        CoreTarget target = target(vmlinux, tcp);
        KernelModules modules = modules(target);

        AttachPoint point =
                images(target, modules).point(spec.program("on_init").orElseThrow(), modules);
        assertThat(point.btfId()).isEqualTo(ops);
        assertThat(point.program()).asString().contains("BTF of tcp");
        modules.close();
    }

    @Test
    void theKernelsOwnComesFirst() {
        wrapper(kernels, congestionOps(kernels));
        Btf vmlinux = kernels.build("/sys/kernel/btf/vmlinux", ORDER);
        BtfBuilder tcp = BtfBuilder.split(vmlinux);
        wrapper(tcp, congestionOps(tcp));
        CoreTarget target = target(vmlinux, tcp);
        KernelModules modules = modules(target);

        StructOpsImages images = images(target, modules);
        create(Objects.requireNonNull(images.byName().get("first")), modules).close();
        assertThat(kernel.commands(MapCommand.Create.class).getLast().kernelValueBtf())
                .isNull();
        assertThat(images.point(spec.program("on_init").orElseThrow(), modules).program())
                .isNull();
        assertThat(kernel.commands(ObjectCommand.FdById.class)).isEmpty();
    }

    @Test
    void aKernelThatTakesNoneOfModulesIsExplained() {
        Btf vmlinux = kernels.build("/sys/kernel/btf/vmlinux", ORDER);
        BtfBuilder tcp = BtfBuilder.split(vmlinux);
        wrapper(tcp, congestionOps(tcp));
        CoreTarget target = target(vmlinux, tcp);
        KernelModules modules = modules(target);
        StructOpsImage image =
                Objects.requireNonNull(images(target, modules).byName().get("first"));
        for (Errno errno : List.of(Errno.EINVAL, Errno.E2BIG)) {
            kernel.fail(MapCommand.Create.class, errno);
            assertThatThrownBy(() -> create(image, modules))
                    .isInstanceOf(InvalidObjectException.class)
                    .hasMessageContaining("\"first\"")
                    .hasMessageContaining("module \"tcp\"")
                    .hasMessageContaining("Linux 6.9");
        }
        modules.close();
    }

    @Test
    void whereItWasSearchedIsSaid() {
        Btf vmlinux = kernels.build("/sys/kernel/btf/vmlinux", ORDER);
        CoreTarget target = target(vmlinux, BtfBuilder.split(vmlinux));
        assertThatThrownBy(() -> images(target, modules(target)))
                .isInstanceOf(RelocationException.class)
                .hasMessageContaining("this kernel has no struct tcp_congestion_ops, nor one of its modules: net, tcp");
        BtfBuilder tcp = BtfBuilder.split(vmlinux);
        congestionOps(tcp);
        CoreTarget without = target(vmlinux, tcp);
        assertThatThrownBy(() -> images(without, modules(without)))
                .isInstanceOf(RelocationException.class)
                .hasMessageContaining("is not one to be implemented");
    }
}
