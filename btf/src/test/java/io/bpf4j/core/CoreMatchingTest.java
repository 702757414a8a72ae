package io.bpf4j.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfExt;
import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.BtfType.EnumValue;
import io.bpf4j.btf.BtfType.Member;
import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Opcodes;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;

/** Which types of the target stand for a program's, and what that means for its instructions. */
class CoreMatchingTest {
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    /** For what would take years. */
    private static final Duration BOUND = Duration.ofMinutes(10);

    private final BtfBuilder local = BtfBuilder.create();
    private final BtfBuilder kernel = BtfBuilder.create();
    private final int localInt = local.integer("int", 4, BtfType.Int.SIGNED);
    private final int localU32 = local.integer("unsigned int", 4, 0);
    private final int kernelInt = kernel.integer("int", 4, BtfType.Int.SIGNED);
    private final int kernelU32 = kernel.integer("unsigned int", 4, 0);

    private CoreRelocator relocator() {
        return new CoreRelocator(local.build("object", ORDER), CoreTarget.of(kernel.build("kernel", ORDER)));
    }

    private CoreRelocator relocator(BtfBuilder target) {
        return new CoreRelocator(local.build("object", ORDER), CoreTarget.of(target.build("kernel", ORDER)));
    }

    private BtfExt.CoreRelocation relocation(int type, String access, CoreRelocationKind kind) {
        return new BtfExt.CoreRelocation(0, type, local.string(access), kind.number());
    }

    /** What {@code r1 = value} becomes. */
    private static long value(CoreRelocator relocator, BtfExt.CoreRelocation relocation, int value) {
        List<Instruction> code = List.of(new Instruction(Opcodes.ALU64 | Opcodes.MOV, 1, 0, 0, value));
        return switch (relocator.relocate(relocation, code, 0)) {
            case CoreFixup.Keep _ -> value;
            case CoreFixup.Patch patch -> patch.to();
            case CoreFixup.Poison poison -> fail(poison.reason());
        };
    }

    private boolean typeMatches(int type) {
        BtfExt.CoreRelocation relocation = relocation(type, "0", CoreRelocationKind.TYPE_MATCHES);
        return value(relocator(), relocation, 1) == 1;
    }

    // bpf_core_type_matches

    @Test
    void aTypeMatchesThatHasAtLeastTheSameMembers() {
        int wanted = local.struct("s", 4, Member.at("a", localInt, 0));
        kernel.struct("s", 8, Member.at("more", kernelInt, 0), Member.at("a", kernelInt, 4));
        assertThat(typeMatches(wanted)).isTrue();
    }

    @Test
    void aTypeDoesNotMatchWithoutAMemberOrWithAnotherSign() {
        int missing = local.struct("s", 8, Member.at("a", localInt, 0), Member.at("b", localInt, 4));
        int sign = local.struct("t", 4, Member.at("a", localU32, 0));
        kernel.struct("s", 8, Member.at("a", kernelInt, 0), Member.at("c", kernelInt, 4));
        kernel.struct("t", 4, Member.at("a", kernelInt, 0));
        assertThat(typeMatches(missing)).isFalse();
        assertThat(typeMatches(sign)).isFalse();
    }

    @Test
    void behindAPointerTheNameAndTheKindAreEnough() {
        int inner = local.struct("inner", 4, Member.at("x", localInt, 0));
        int same = local.struct("same", 8, Member.at("p", local.pointer(inner), 0));
        int other = local.struct("other", 8, Member.at("p", local.pointer(inner), 0));
        kernel.struct("same", 8, Member.at("p", kernel.pointer(kernel.add(new BtfType.Fwd("inner", false))), 0));
        kernel.struct("other", 8, Member.at("p", kernel.pointer(kernel.add(new BtfType.Fwd("inner", true))), 0));
        assertThat(typeMatches(same)).isTrue();
        assertThat(typeMatches(other)).as("a union").isFalse();
    }

    @Test
    void enumerationsMatchByNameWhateverTheNumbersAndTheWidthOfTheirKind() {
        int wanted = local.add(new BtfType.Enum32("e", 8, false, List.of(new EnumValue("A", 1))));
        int lacking = local.add(new BtfType.Enum32("f", 4, false, List.of(new EnumValue("A", 1))));
        kernel.add(new BtfType.Enum64("e", 8, false, List.of(new EnumValue("Z", 0), new EnumValue("A", 7))));
        kernel.add(new BtfType.Enum32("f", 4, false, List.of(new EnumValue("B", 1))));
        assertThat(typeMatches(wanted)).isTrue();
        assertThat(typeMatches(lacking)).isFalse();
    }

    @Test
    void prototypesMatchByTheirParameters() {
        int wanted = local.typedef("callback", local.pointer(proto(local, localInt, localU32)));
        int fewer = local.typedef("fewer", local.pointer(proto(local, localInt)));
        kernel.typedef("callback", kernel.pointer(proto(kernel, kernelInt, kernelU32)));
        kernel.typedef("fewer", kernel.pointer(proto(kernel, kernelInt, kernelU32)));
        assertThat(typeMatches(wanted)).isTrue();
        assertThat(typeMatches(fewer)).isFalse();
    }

    private static int proto(BtfBuilder types, int... parameters) {
        List<BtfType.Parameter> list = java.util.Arrays.stream(parameters)
                .mapToObj(type -> new BtfType.Parameter("p", type))
                .toList();
        return types.add(new BtfType.FuncProto(parameters[0], list));
    }

    // Fields

    @Test
    void aFlexibleArrayHasNoEnd() {
        int wanted = local.struct(
                "s", 4, Member.at("n", localInt, 0), Member.at("items", local.array(localInt, localU32, 0), 4));
        kernel.struct(
                "s", 16, Member.at("n", kernelInt, 0), Member.at("items", kernel.array(kernelInt, kernelU32, 0), 16));
        BtfExt.CoreRelocation ninth = relocation(wanted, "0:1:9", CoreRelocationKind.FIELD_BYTE_OFFSET);
        assertThat(value(relocator(), ninth, 40)).isEqualTo(16 + 9 * 4);
    }

    @Test
    void anElementBeyondTheTargetsArrayIsMissing() {
        int wanted = local.struct("s", 40, Member.at("items", local.array(localInt, localU32, 10), 0));
        kernel.struct("s", 8, Member.at("items", kernel.array(kernelInt, kernelU32, 2), 0));
        BtfExt.CoreRelocation last = relocation(wanted, "0:0:9", CoreRelocationKind.FIELD_EXISTS);
        BtfExt.CoreRelocation inside = relocation(wanted, "0:0:1", CoreRelocationKind.FIELD_EXISTS);
        CoreRelocator relocator = relocator();
        assertThat(value(relocator, last, 1)).isZero();
        assertThat(value(relocator, inside, 1)).isEqualTo(1);
    }

    @Test
    void aFieldThatBecameAPointerIsMissing() {
        int wanted = local.struct("s", 4, Member.at("a", localInt, 0));
        kernel.struct("s", 8, Member.at("a", kernel.pointer(kernelInt), 0));
        BtfExt.CoreRelocation exists = relocation(wanted, "0:0", CoreRelocationKind.FIELD_EXISTS);
        assertThat(value(relocator(), exists, 1)).isZero();
    }

    /** Thousands of relocations of a damaged file may share one long name. */
    @Test
    void aReasonIsShortHoweverLongTheNamesAre() {
        int wanted = local.struct("s".repeat(4000), 4, Member.at("a".repeat(4000), localInt, 0));
        List<Instruction> load = Assembler.create().ldx(4, 1, 2, 0).assemble();
        BtfExt.CoreRelocation offset = relocation(wanted, "0:0", CoreRelocationKind.FIELD_BYTE_OFFSET);
        assertThat(relocator().relocate(offset, load, 0))
                .isInstanceOfSatisfying(
                        CoreFixup.Poison.class,
                        poison -> assertThat(poison.reason()).contains("ss…: ").hasSizeLessThan(6000));
    }

    @Test
    void aSignedFieldOfAnotherSizeCannotBeLoadedDirectly() {
        int wanted = local.struct("s", 4, Member.at("a", localInt, 0));
        kernel.struct("s", 8, Member.at("a", kernel.integer("long", 8, BtfType.Int.SIGNED), 0));
        List<Instruction> load = Assembler.create().ldx(4, 1, 2, 0).assemble();
        BtfExt.CoreRelocation offset = relocation(wanted, "0:0", CoreRelocationKind.FIELD_BYTE_OFFSET);
        assertThat(relocator().relocate(offset, load, 0))
                .isInstanceOfSatisfying(
                        CoreFixup.Poison.class,
                        poison -> assertThat(poison.reason())
                                .contains("struct s.a has 4 bytes in the program and 8 in kernel"));
    }

    @Test
    void aPointerOfA32BitKernelIsLoadedAsFourBytes() {
        int wanted = local.struct("s", 8, Member.at("p", local.pointer(localInt), 0));
        kernel.integer("long unsigned int", 4, 0);
        kernel.struct("s", 8, Member.at("p", kernel.pointer(kernelInt), 4));
        List<Instruction> load = Assembler.create().ldx(8, 1, 2, 0).assemble();
        BtfExt.CoreRelocation offset = relocation(wanted, "0:0", CoreRelocationKind.FIELD_BYTE_OFFSET);
        Instruction expected = Assembler.create().ldx(4, 1, 2, 4).assemble().getFirst();
        assertThat(relocator().relocate(offset, load, 0)).isEqualTo(new CoreFixup.Patch(List.of(expected), 0, 4));
    }

    @Test
    void anOffsetThatNoInstructionCanHoldIsRefused() {
        int wanted = local.struct("s", 4, Member.at("a", localInt, 0));
        kernel.struct("s", 50_000, Member.at("a", kernelInt, 40_000));
        List<Instruction> load = Assembler.create().ldx(4, 1, 2, 0).assemble();
        BtfExt.CoreRelocation offset = relocation(wanted, "0:0", CoreRelocationKind.FIELD_BYTE_OFFSET);
        CoreRelocator relocator = relocator();
        assertThatThrownBy(() -> relocator.relocate(offset, load, 0))
                .isInstanceOf(CoreException.class)
                .hasMessageContaining("40000");
    }

    @Test
    void instructionsWithoutANumberAreNoneToRelocate() {
        int wanted = local.struct("s", 4, Member.at("a", localInt, 0));
        kernel.struct("s", 8, Member.at("a", kernelInt, 4));
        BtfExt.CoreRelocation offset = relocation(wanted, "0:0", CoreRelocationKind.FIELD_BYTE_OFFSET);
        CoreRelocator relocator = relocator();
        for (int operation : new int[] {Opcodes.MOV, Opcodes.ADD}) {
            for (int opClass : new int[] {Opcodes.ALU, Opcodes.ALU64}) {
                List<Instruction> code = List.of(new Instruction(opClass | operation | Opcodes.X, 1, 2, 0, 0));
                assertThatThrownBy(() -> relocator.relocate(offset, code, 0))
                        .isInstanceOf(CoreException.class)
                        .hasMessageContaining("it has no immediate to relocate");
            }
        }
        List<Instruction> ofMap = List.of(
                new Instruction(Opcodes.LD | 0x18, 1, Opcodes.PSEUDO_MAP_FD, 0, 0), new Instruction(0, 0, 0, 0, 0));
        assertThatThrownBy(() -> relocator.relocate(offset, ofMap, 0))
                .isInstanceOf(CoreException.class)
                .hasMessageContaining("it is not a plain 64-bit load");
        List<Instruction> call = Assembler.create().exit().assemble();
        assertThatThrownBy(() -> relocator.relocate(offset, call, 0))
                .isInstanceOf(CoreException.class)
                .hasMessageContaining("this kind of instruction can't be relocated");
    }

    // Candidates

    @Test
    void candidatesNarrowToThoseThatMatchedBefore() {
        int wanted = local.struct("s", 8, Member.at("only", localInt, 0), Member.at("both", localInt, 4));
        kernel.struct("s", 16, Member.at("only", kernelInt, 8), Member.at("both", kernelInt, 12));
        kernel.struct("s", 4, Member.at("both", kernelInt, 0));
        BtfExt.CoreRelocation both = relocation(wanted, "0:1", CoreRelocationKind.FIELD_BYTE_OFFSET);
        BtfExt.CoreRelocation only = relocation(wanted, "0:0", CoreRelocationKind.FIELD_BYTE_OFFSET);
        CoreRelocator fresh = relocator();
        assertThatThrownBy(() -> value(fresh, both, 4))
                .isInstanceOf(CoreException.class)
                .hasMessageContaining("ambiguous")
                .hasMessageContaining("struct s [3] of kernel gives 12")
                .hasMessageContaining("struct s [4] of kernel gives 0");
        CoreRelocator narrowed = relocator();
        assertThat(value(narrowed, only, 0)).isEqualTo(8);
        assertThat(value(narrowed, both, 4)).isEqualTo(12);
    }

    @Test
    void candidatesThatAgreeAreOneAnswer() {
        int wanted = local.struct("s", 8, Member.at("a", localInt, 0), Member.at("gone", localInt, 4));
        kernel.struct("s", 16, Member.at("a", kernelInt, 4));
        kernel.struct("s___other", 16, Member.at("more", kernelInt, 0), Member.at("a", kernelU32, 4));
        kernel.struct("s", 32, Member.at("b", kernelInt, 0));
        BtfExt.CoreRelocation offset = relocation(wanted, "0:0", CoreRelocationKind.FIELD_BYTE_OFFSET);
        BtfExt.CoreRelocation exists = relocation(wanted, "0:1", CoreRelocationKind.FIELD_EXISTS);
        BtfExt.CoreRelocation size = relocation(wanted, "0", CoreRelocationKind.TYPE_SIZE);
        BtfExt.CoreRelocation id = relocation(wanted, "0", CoreRelocationKind.TYPE_ID_TARGET);
        CoreRelocator relocator = relocator();
        assertThat(value(relocator, offset, 0)).isEqualTo(4);
        assertThat(value(relocator, exists, 1)).isZero();
        assertThat(value(relocator, size, 8))
                .as("of those that had what was asked before")
                .isEqualTo(16);
        assertThatThrownBy(() -> value(relocator, id, wanted))
                .isInstanceOf(CoreException.class)
                .hasMessageContaining("ambiguous");
    }

    @Test
    void aStructOfTheProgramIsNoUnionOfTheKernel() {
        int wanted = local.struct("s", 4, Member.at("a", localInt, 0));
        kernel.add(new BtfType.Union("s", 4, List.of(Member.at("a", kernelInt, 0))));
        BtfExt.CoreRelocation type = relocation(wanted, "0", CoreRelocationKind.TYPE_EXISTS);
        BtfExt.CoreRelocation field = relocation(wanted, "0:0", CoreRelocationKind.FIELD_EXISTS);
        CoreRelocator relocator = relocator();
        assertThat(value(relocator, type, 1)).isZero();
        assertThat(value(relocator, field, 1)).isZero();
    }

    @Test
    void flavoursOnEitherSideNameTheSameType() {
        int wanted = local.struct("s___mine", 4, Member.at("a", localInt, 0));
        kernel.struct("s___theirs", 8, Member.at("a", kernelInt, 4));
        BtfExt.CoreRelocation offset = relocation(wanted, "0:0", CoreRelocationKind.FIELD_BYTE_OFFSET);
        assertThat(value(relocator(), offset, 0)).isEqualTo(4);
    }

    @Test
    void modulesAreAskedOnlyForWhatTheKernelLacks() {
        int inKernel = local.struct("s", 4, Member.at("a", localInt, 0));
        int inModule = local.struct("m", 4, Member.at("a", localInt, 0));
        BtfExt.CoreRelocation kernels = relocation(inKernel, "0:0", CoreRelocationKind.FIELD_BYTE_OFFSET);
        BtfExt.CoreRelocation modules = relocation(inModule, "0:0", CoreRelocationKind.FIELD_BYTE_OFFSET);
        kernel.struct("s", 8, Member.at("a", kernelInt, 4));
        Btf vmlinux = kernel.build("kernel", ORDER);
        BtfBuilder split = BtfBuilder.split(vmlinux);
        split.struct("s", 16, Member.at("a", kernelInt, 12));
        split.struct("m", 16, Member.at("a", kernelInt, 8));
        Btf module = split.build("module", ORDER);
        CoreRelocator relocator =
                new CoreRelocator(local.build("object", ORDER), CoreTarget.of(vmlinux, () -> List.of(module)));
        assertThat(value(relocator, kernels, 0)).isEqualTo(4);
        assertThat(value(relocator, modules, 0)).isEqualTo(8);
    }

    @Test
    void negativeValuesOfEnumerationsAreSignExtended() {
        int wanted = local.add(new BtfType.Enum32("e", 4, true, List.of(new EnumValue("A", -1))));
        kernel.add(new BtfType.Enum32("e", 4, true, List.of(new EnumValue("A", -2))));
        BtfExt.CoreRelocation relocation = relocation(wanted, "0", CoreRelocationKind.ENUMVAL_VALUE);
        List<Instruction> load = Assembler.create().loadImm64(1, -1).assemble();
        assertThat(relocator().relocate(relocation, load, 0))
                .isEqualTo(
                        new CoreFixup.Patch(Assembler.create().loadImm64(1, -2).assemble(), -1, -2));
    }

    // Hostile types

    @Test
    void structsThatHoldThemselvesTakeBoundedTime() {
        int wanted = local.struct("s", 4, Member.at("gone", localInt, 0));
        int id = kernel.nextId();
        Member[] itself = new Member[1000];
        java.util.Arrays.fill(itself, Member.at("", id, 0));
        kernel.struct("s", 4, itself);
        BtfExt.CoreRelocation exists = relocation(wanted, "0:0", CoreRelocationKind.FIELD_EXISTS);
        Assertions.assertTimeoutPreemptively(
                BOUND, () -> assertThat(value(relocator(), exists, 1)).isZero());
    }

    @Test
    void aMemberNestedTooDeepIsNotCalledMissing() {
        int wanted = local.struct("s", 4, Member.at("a", localInt, 0));
        BtfExt.CoreRelocation exists = relocation(wanted, "0:0", CoreRelocationKind.FIELD_EXISTS);
        int nested = kernel.struct("", 4, Member.at("a", kernelInt, 0));
        for (int i = 0; i < 61; i++) {
            nested = kernel.struct("", 4, Member.at("", nested, 0));
        }
        BtfBuilder deeper = BtfBuilder.split(kernel.build("base", ORDER));
        deeper.struct("s", 4, Member.at("", nested, 0));
        assertThat(value(relocator(deeper), exists, 1))
                .as("64 indexes: the element, 62 nameless members, the member")
                .isEqualTo(1);
        nested = kernel.struct("", 4, Member.at("", nested, 0));
        kernel.struct("s", 4, Member.at("", nested, 0));
        CoreRelocator relocator = relocator();
        assertThatThrownBy(() -> value(relocator, exists, 1))
                .isInstanceOf(CoreException.class)
                .hasMessageContaining("member a is nested deeper than the 64 members and elements");
    }

    @Test
    void aTreeOfPrototypesTakesBoundedTime() {
        int wanted = local.typedef("t", tower(local, localInt));
        kernel.typedef("t", tower(kernel, kernelInt));
        Assertions.assertTimeoutPreemptively(
                BOUND, () -> assertThat(typeMatches(wanted)).isTrue());
    }

    /** 12 levels of prototypes with 32 parameters, each the level below: 32^12 paths through 12 types. */
    private static int tower(BtfBuilder types, int leaf) {
        int level = leaf;
        for (int i = 0; i < 12; i++) {
            int[] parameters = new int[32];
            java.util.Arrays.fill(parameters, level);
            level = types.pointer(proto(types, parameters));
        }
        return level;
    }
}
