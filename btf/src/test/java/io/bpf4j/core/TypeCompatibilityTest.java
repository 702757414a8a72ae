package io.bpf4j.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.BtfType.EnumValue;
import io.bpf4j.btf.BtfType.Member;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Which types of a program and of a kernel go together: of fields that are read ({@code bpf_core_fields_are_compat} of
 * libbpf), and at the root of a type relocation ({@code bpf_core_types_are_compat}).
 */
class TypeCompatibilityTest {
    private final BtfBuilder local = BtfBuilder.create();
    private final BtfBuilder kernel = BtfBuilder.create();
    private final int localInt = local.integer("int", 4, BtfType.Int.SIGNED);
    private final int kernelInt = kernel.integer("int", 4, BtfType.Int.SIGNED);

    private TypeCompatibility compatibility() {
        return new TypeCompatibility(
                new Types(local.build("object", ByteOrder.LITTLE_ENDIAN)),
                new Types(kernel.build("kernel", ByteOrder.LITTLE_ENDIAN)),
                new RelocationBudget());
    }

    private boolean fields(BtfType one, BtfType other) {
        return fields(local.add(one), kernel.add(other));
    }

    private boolean fields(int one, int other) {
        return compatibility().fields(one, other);
    }

    private boolean types(BtfType one, BtfType other) {
        return types(local.add(one), kernel.add(other));
    }

    private boolean types(int one, int other) {
        return compatibility().types(one, other);
    }

    private static BtfType enum32(String name) {
        return new BtfType.Enum32(name, 4, false, List.of(new EnumValue("A", 0)));
    }

    private static BtfType enum64(String name) {
        return new BtfType.Enum64(name, 8, false, List.of(new EnumValue("B", 1)));
    }

    private static BtfType fwd(String name) {
        return new BtfType.Fwd(name, false);
    }

    private static BtfType struct(String name) {
        return new BtfType.Struct(name, 0, List.of());
    }

    private static BtfType union(String name) {
        return new BtfType.Union(name, 0, List.of());
    }

    private static BtfType real(int size) {
        return new BtfType.FloatingPoint("real", size);
    }

    /** As BTF before Linux 5.0 had bit-fields. */
    private static BtfType oldBitField() {
        return new BtfType.Int("int", 4, 0, 3, 5);
    }

    @Test
    void integersOfAnySizeAndSignAreFieldsOfOneKind() {
        assertThat(fields(BtfType.Int.of("int", 4, BtfType.Int.SIGNED), BtfType.Int.of("long", 8, 0)))
                .isTrue();
        assertThat(fields(BtfType.Int.of("bool", 1, BtfType.Int.BOOL), BtfType.Int.of("char", 1, BtfType.Int.CHAR)))
                .isTrue();
        assertThat(fields(BtfType.Int.of("int", 4, 0), oldBitField())).isFalse();
        assertThat(fields(oldBitField(), BtfType.Int.of("int", 4, 0))).isFalse();
        assertThat(fields(BtfType.Int.of("int", 4, 0), real(4))).isFalse();
        assertThat(fields(BtfType.Int.of("int", 4, 0), enum32("e"))).isFalse();
        assertThat(fields(real(4), real(8))).isTrue();
    }

    @Test
    void enumerationsAndForwardDeclarationsAreFieldsByTheirNames() {
        assertThat(fields(enum32("e"), enum32("e"))).isTrue();
        assertThat(fields(enum32("e___mine"), enum64("e"))).as("flavour, width").isTrue();
        assertThat(fields(enum32("e"), enum64("f"))).isFalse();
        assertThat(fields(enum32(""), enum32("f"))).as("without a name").isTrue();
        assertThat(fields(enum32("e"), enum32(""))).isTrue();
        assertThat(fields(fwd("x"), fwd("x"))).isTrue();
        assertThat(fields(fwd("x___mine"), fwd("x___theirs"))).isTrue();
        assertThat(fields(fwd("x"), fwd("y"))).isFalse();
        assertThat(fields(fwd("x"), struct("x"))).isFalse();
    }

    @Test
    void aFieldMayBeAStructHereAndAUnionThere() {
        assertThat(fields(struct("a"), struct("b"))).isTrue();
        assertThat(fields(struct("a"), union("a"))).isTrue();
        assertThat(fields(union("a"), struct("b"))).isTrue();
        assertThat(fields(struct("a"), enum32("a"))).isFalse();
    }

    @Test
    void pointersAndArraysOfFields() {
        int localStruct = local.add(struct("s"));
        assertThat(fields(local.pointer(localInt), kernel.pointer(kernel.add(union("u")))))
                .as("whatever is there")
                .isTrue();
        assertThat(fields(local.pointer(localInt), kernelInt)).isFalse();
        assertThat(fields(local.array(localInt, localInt, 4), kernel.array(kernelInt, kernelInt, 9)))
                .as("of any length")
                .isTrue();
        assertThat(fields(local.array(localStruct, localInt, 4), kernel.array(kernelInt, kernelInt, 4)))
                .isFalse();
        assertThat(fields(local.array(localInt, localInt, 4), kernel.pointer(kernelInt)))
                .isFalse();
        int constant = kernel.typedef("int_t", kernel.add(new BtfType.Const(kernelInt)));
        assertThat(fields(local.typedef("mine", localInt), constant)).isTrue();
    }

    @Test
    void typesAtTheRootAreOfOneKind() {
        assertThat(types(struct("s"), struct("s"))).isTrue();
        assertThat(types(struct("s"), union("s"))).isFalse();
        assertThat(types(fwd("s"), struct("s"))).isFalse();
        assertThat(types(fwd("s"), fwd("s"))).isTrue();
        assertThat(types(enum32("e"), enum64("e"))).isTrue();
        assertThat(types(BtfType.Int.of("int", 4, 0), BtfType.Int.of("int", 8, BtfType.Int.SIGNED)))
                .isTrue();
        assertThat(types(BtfType.Int.of("int", 4, 0), oldBitField())).isFalse();
        assertThat(types(BtfType.Int.of("int", 4, 0), enum32("int"))).isFalse();
        assertThat(types(local.typedef("t", localInt), kernelInt))
                .as("a typedef")
                .isFalse();
        assertThat(types(local.typedef("t", localInt), kernel.typedef("t", kernelInt)))
                .isTrue();
        assertThat(types(local.typedef("t", localInt), kernel.typedef("t", kernel.pointer(kernelInt))))
                .isFalse();
    }

    @Test
    void whatPointersAndPrototypesLeadToCounts() {
        int localPointer = local.pointer(local.pointer(local.add(struct("s"))));
        assertThat(types(localPointer, kernel.pointer(kernel.pointer(kernel.add(struct("other"))))))
                .as("names below the root don't count")
                .isTrue();
        assertThat(types(localPointer, kernel.pointer(kernel.pointer(kernel.add(union("s"))))))
                .isFalse();
        BtfType one = new BtfType.FuncProto(localInt, List.of(new BtfType.Parameter("a", localInt)));
        assertThat(types(one, new BtfType.FuncProto(kernelInt, List.of(new BtfType.Parameter("b", kernelInt)))))
                .isTrue();
        assertThat(types(one, new BtfType.FuncProto(0, List.of(new BtfType.Parameter("a", kernelInt)))))
                .as("another result")
                .isFalse();
        assertThat(types(one, new BtfType.FuncProto(kernelInt, List.of()))).isFalse();
    }

    @Test
    void aStructIsNotLookedForAmongUnions() {
        int wanted = local.struct("s", 4, Member.at("a", localInt, 0));
        kernel.add(new BtfType.Union("s", 4, List.of(Member.at("a", kernelInt, 0))));
        CoreTarget target = CoreTarget.of(kernel.build("kernel", ByteOrder.LITTLE_ENDIAN));
        BtfKind kind = local.build("object", ByteOrder.LITTLE_ENDIAN).kind(wanted);
        assertThat(target.candidates("s", kind, new RelocationBudget())).isEmpty();
    }
}
