package io.bpf4j.loader;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.elf.ByteView;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.types.KernelBtf;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.CType;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.BtfInfo;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.MapTraits;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.ObjectCommand.Kind;
import io.bpf4j.sys.kernel.MapInfo;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;

/**
 * The types that are loaded in the kernel: its own, those of modules, and those of programs and maps. <i>Thread-safe.</i>
 *
 * <pre>{@code
 * try (BpfMap counters = Maps.byId(4711)) {
 *     Optional<CType> type = Types.ofValue(counters);
 *     …
 * }
 * }</pre>
 *
 * <p>Tested by {@code InspectionOnKernelTest}.
 */
public final class Types {
    private static final CType NUMBER = number();

    private static final String KERNEL = "vmlinux";

    private Types() {}

    /** {@link #ids(Host)} on the running machine. */
    public static List<Integer> ids() {
        return ids(Host.running());
    }

    /** The kernel's ids of all BTF, ascending (Linux 5.4). Needs CAP_SYS_ADMIN. */
    public static List<Integer> ids(Host host) {
        return Links.ids(Kernel.of(host), Kind.BTF);
    }

    /** {@link #info(Host, int)} on the running machine. */
    public static LoadedTypes info(int id) {
        return info(Host.running(), id);
    }

    /**
     * What is known of BTF without reading its types (Linux 4.18). Needs CAP_SYS_ADMIN.
     *
     * @throws io.bpf4j.sys.SyscallException ENOENT if there is no such BTF
     */
    public static LoadedTypes info(Host host, int id) {
        BtfInfo info = read(host, id, false);
        return new LoadedTypes(info.id(), info.name(), info.ofKernel(), Integer.toUnsignedLong(info.size()));
    }

    /** {@link #byId(Host, int)} on the running machine. */
    public static Btf byId(int id) {
        return byId(Host.running(), id);
    }

    /**
     * Reads BTF by the kernel's id (Linux 4.18). That of a module is on top of the kernel's. Needs CAP_SYS_ADMIN.
     *
     * @throws io.bpf4j.sys.SyscallException ENOENT if there is no such BTF
     * @throws io.bpf4j.loader.error.RelocationException if it is of a module, and the kernel's own can't be read
     * @throws io.bpf4j.elf.MalformedDataException if it has kinds of types that are newer than bpf4j
     */
    public static Btf byId(Host host, int id) {
        BtfInfo info = read(host, id, true);
        ByteView bytes = ByteView.of("BTF " + id, info.data(), ByteOrder.nativeOrder());
        return info.ofKernel() && !info.name().equals(KERNEL)
                ? Btf.parse(bytes, KernelBtf.of(host).types())
                : Btf.parse(bytes);
    }

    private static BtfInfo read(Host host, int id, boolean withTypes) {
        Kernel kernel = Kernel.of(host);
        try (Fd btf = kernel.execute(new ObjectCommand.FdById(Kind.BTF, id))) {
            return kernel.execute(new ObjectCommand.InfoOfBtf(btf, withTypes));
        }
    }

    /** {@link #ofKernel(Host)} on the running machine. */
    public static Btf ofKernel() {
        return ofKernel(Host.running());
    }

    /**
     * The kernel's own types, from its file (Linux 5.4): read once, and needs no right.
     *
     * @throws io.bpf4j.loader.error.RelocationException if they are not found
     */
    public static Btf ofKernel(Host host) {
        return KernelBtf.of(host).types();
    }

    /** {@link #ofModule(Host, String)} on the running machine. */
    public static Optional<Btf> ofModule(String name) {
        return ofModule(Host.running(), name);
    }

    /** The types of a loaded module, on top of the kernel's (Linux 5.11); empty if there is none of that name. */
    public static Optional<Btf> ofModule(Host host, String name) {
        return name.isEmpty() ? Optional.empty() : KernelBtf.of(host).ofModule(name);
    }

    /**
     * The C type of a map's keys: of the object that it was loaded with, or else by the kernel's id of its BTF, which
     * needs CAP_SYS_ADMIN. A map that was made without BTF has none, unless its type has only numbers of 4 bytes as
     * keys, such as the index of an array.
     */
    public static Optional<CType> ofKey(BpfMap map) {
        return map.keyType()
                .or(() -> {
                    MapInfo info = map.info();
                    return byId(map, info, info.keyTypeId());
                })
                .or(() -> MapTraits.of(map.typeNumber()).keys().equals(MapTraits.Sizes.NUMBER)
                        ? Optional.of(NUMBER)
                        : Optional.empty());
    }

    /** The C type of a map's values, as {@link #ofKey}; of a struct_ops map, the kernel's type. */
    public static Optional<CType> ofValue(BpfMap map) {
        return map.valueType().or(() -> {
            MapInfo info = map.info();
            return info.kernelValueTypeId() == 0
                    ? byId(map, info, info.valueTypeId())
                    : Optional.of(new CType(ofStructOps(KernelMap.of(map).host(), info), info.kernelValueTypeId()));
        });
    }

    /** Before Linux 6.9 only the kernel itself had struct_ops types. */
    private static Btf ofStructOps(Host host, MapInfo info) {
        return info.kernelBtfId() == 0 ? ofKernel(host) : byId(host, info.kernelBtfId());
    }

    private static CType number() {
        BtfBuilder types = BtfBuilder.create();
        int id = types.integer("unsigned int", Integer.BYTES, 0);
        return new CType(types.build("keys that are numbers", ByteOrder.nativeOrder()), id);
    }

    private static Optional<CType> byId(BpfMap map, MapInfo info, int typeId) {
        return info.btfId() == 0 || typeId == 0
                ? Optional.empty()
                : Optional.of(new CType(byId(KernelMap.of(map).host(), info.btfId()), typeId));
    }
}
