package io.bpf4j.loader.internal.plan;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.spec.StructOpsSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A struct_ops struct in the layout of the running kernel.
 *
 * <p>The object's struct is a copy of the struct of an earlier kernel, often reduced to the members in use. The kernel
 * accepts only its own layout. So each member is looked up by name in the kernel's BTF and written at the kernel's
 * offset; a member that the kernel lacks must be zero. The kernel wraps the struct together with its own state:
 *
 * <pre>
 *   struct bpf_struct_ops_tcp_congestion_ops {     the value of the map
 *       struct bpf_struct_ops_common_value common; counters and state, the kernel's
 *       struct tcp_congestion_ops data;            filled here
 *   };
 * </pre>
 *
 * <p>A module may define such structs, too (Linux 6.9): then both structs are looked up in the module's BTF, and the
 * kernel gets a file descriptor of that BTF.
 *
 * <p>Programs are verified for the member they serve, by its index in the kernel's struct; after the load their file
 * descriptors go into the value, in place of addresses. Source: kernel/bpf/bpf_struct_ops.c of Linux 6.12.
 *
 * @param variable the definition in the object
 * @param module whose BTF has the ids; an empty name for the kernel's own
 * @param typeId of the struct
 * @param wrapperTypeId of the struct around it
 * @param value of the map, functions still 0
 * @param slots the function members that take a program
 */
@SuppressWarnings("ArrayRecordComponent") // internal; read only where programs are put into a copy
public record StructOpsImage(
        StructOpsSpec variable, String module, int typeId, int wrapperTypeId, byte[] value, List<Slot> slots) {
    private static final String WRAPPER = "bpf_struct_ops_";

    /** Far above the size of any struct_ops struct; limits the allocation if BTF from a file is malformed. */
    private static final int MAX_SIZE = 1 << 20;

    /**
     * A function member that takes a program.
     *
     * @param offset in the map's value, in bytes
     * @param index of the member in the kernel's struct
     */
    public record Slot(int offset, int index, String member, String program) {}

    /**
     * The image for a kernel.
     *
     * @param local the object's types
     * @throws RelocationException if neither the kernel nor a module has such a struct, or the object's struct doesn't
     *     fit it
     */
    static StructOpsImage of(StructOpsSpec variable, Btf local, TargetKernel kernel) {
        return new Builder(variable, local, wrapper(variable, kernel)).image();
    }

    /** Looks for the wrapper struct: the kernel has one only for structs that programs may implement. */
    private static TargetKernel.Found wrapper(StructOpsSpec variable, TargetKernel kernel) {
        String name = Btf.essentialName(variable.type());
        return kernel.find(WRAPPER + name, BtfKind.STRUCT).orElseThrow(() -> {
            boolean known = kernel.find(name, BtfKind.STRUCT).isPresent();
            return failed(
                    variable,
                    known
                            ? "this kernel has no struct " + WRAPPER + name + ": its struct " + name
                                    + " can't be implemented by programs"
                            : "this kernel has no struct " + name + ", " + kernel.searched());
        });
    }

    private static RelocationException failed(StructOpsSpec variable, String problem) {
        return new RelocationException("struct_ops variable \"" + variable.name() + "\": " + problem);
    }

    private static final class Builder {
        private final StructOpsSpec variable;
        private final byte[] content;
        private final Btf local;
        private final TargetKernel.Found wrapper;
        private final Btf kernel;
        private final int typeId;
        private final BtfType.Struct type;
        /** Offset of the struct in the value, in bytes. */
        private final int start;

        private final byte[] value;
        private final List<Slot> slots = new ArrayList<>();

        Builder(StructOpsSpec variable, Btf local, TargetKernel.Found wrapper) {
            this.variable = variable;
            this.content = variable.content();
            this.local = local;
            this.wrapper = wrapper;
            this.kernel = wrapper.types();
            String name = Btf.essentialName(variable.type());
            BtfType.Struct around = (BtfType.Struct) kernel.type(wrapper.id());
            // The module's own struct may share the name with another module's struct, or the struct may be the
            // kernel's.
            BtfType.Member data = around.members().stream()
                    .filter(member -> kernel.type(kernel.resolve(member.type())) instanceof BtfType.Struct struct
                            && struct.name().equals(name))
                    .findFirst()
                    .orElseThrow(() -> StructOpsImage.failed(
                            variable,
                            "the kernel's struct " + around.name() + " has no member of type struct " + name));
            if (around.size() > MAX_SIZE) {
                throw StructOpsImage.failed(
                        variable,
                        "the kernel's struct " + around.name() + " has " + around.size()
                                + " bytes according to its BTF, more than the" + " limit of " + MAX_SIZE);
            }
            this.typeId = kernel.resolve(data.type());
            this.type = (BtfType.Struct) kernel.type(typeId);
            this.start = (int) (data.bitOffset() / 8);
            this.value = new byte[(int) around.size()];
        }

        StructOpsImage image() {
            Map<String, Integer> kernelMembers = new HashMap<>();
            for (int i = 0; i < type.members().size(); i++) {
                kernelMembers.putIfAbsent(type.members().get(i).name(), i);
            }
            BtfType.Struct objectStruct = (BtfType.Struct) local.type(variable.typeId());
            for (BtfType.Member member : objectStruct.members()) {
                place(member, member.name().isEmpty() ? null : kernelMembers.get(member.name()));
            }
            return new StructOpsImage(variable, wrapper.module(), typeId, wrapper.id(), value, List.copyOf(slots));
        }

        /** Writes a member, which has this index in the kernel's struct; null if the kernel lacks it. */
        private void place(BtfType.Member member, @Nullable Integer index) {
            byte[] bytes = bytes(member);
            if (index == null) {
                requireUnset(member, bytes);
                return;
            }
            BtfType.Member kernelMember = type.members().get(index);
            if (member.isBitField() || kernelMember.isBitField()) {
                requireZero(member, bytes, "is a bit-field, which can't be set");
                return;
            }
            BtfType objectType = local.type(local.resolve(member.type()));
            BtfType kernelType = kernel.type(kernel.resolve(kernelMember.type()));
            if (objectType.kind() != kernelType.kind()) {
                throw failed(
                        member,
                        "is of kind " + objectType.kind() + " in the object and " + kernelType.kind()
                                + " in the kernel");
            }
            long place = start + kernelMember.bitOffset() / 8;
            if (kernelType instanceof BtfType.Ptr pointer) {
                requireZero(member, bytes, "is a pointer to data, but only pointers to programs can be set");
                placeProgram(member, index, pointer, place);
            } else {
                placeData(member, bytes, kernel.size(kernelMember.type()), place);
            }
        }

        /** The bytes of a member in the object; of a bit-field all bytes that hold a part of it. */
        private byte[] bytes(BtfType.Member member) {
            int offset = (int) (member.bitOffset() / 8);
            int size = member.isBitField()
                    ? (int) ((member.bitOffset() % 8 + member.bitSize() + 7) / 8)
                    : (int) local.size(member.type());
            return Arrays.copyOfRange(content, offset, offset + size);
        }

        /** Of a member that the kernel lacks. */
        private void requireUnset(BtfType.Member member, byte[] bytes) {
            String program = variable.functions().get(member.name());
            if (program != null) {
                throw failed(
                        member,
                        "is unknown to this kernel, but the object has program \"" + program
                                + "\" for it; if the object works without it, leave the function out before"
                                + " the load");
            }
            requireZero(member, bytes, "is unknown to this kernel, but not 0 in the object");
        }

        /** The kernel writes the address of the program, if there is one. */
        private void placeProgram(BtfType.Member member, int index, BtfType.Ptr pointer, long place) {
            String program = variable.functions().get(member.name());
            if (program == null) {
                return;
            }
            if (!(kernel.type(kernel.resolve(pointer.type())) instanceof BtfType.FuncProto)) {
                throw failed(member, "is a program in the object, but not a function pointer in the kernel");
            }
            slots.add(new Slot(requireInside(place, Long.BYTES, member), index, member.name(), program));
        }

        private void placeData(BtfType.Member member, byte[] bytes, long kernelSize, long place) {
            if (bytes.length != kernelSize) {
                throw failed(
                        member, "has " + bytes.length + " bytes in the object and " + kernelSize + " in the kernel");
            }
            System.arraycopy(bytes, 0, value, requireInside(place, bytes.length, member), bytes.length);
        }

        private int requireInside(long place, int size, BtfType.Member member) {
            if (place < 0 || place > value.length - size) {
                throw failed(
                        member,
                        "is at byte " + place + ", outside the " + value.length + " bytes of the kernel's struct "
                                + WRAPPER + type.name());
            }
            return (int) place;
        }

        private void requireZero(BtfType.Member member, byte[] bytes, String problem) {
            for (byte each : bytes) {
                if (each != 0) {
                    throw failed(member, problem);
                }
            }
        }

        private RelocationException failed(BtfType.Member member, String problem) {
            return StructOpsImage.failed(
                    variable, "member \"" + member.name() + "\" of struct " + variable.type() + " " + problem);
        }
    }
}
