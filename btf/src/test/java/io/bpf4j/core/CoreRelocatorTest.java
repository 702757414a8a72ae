package io.bpf4j.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfExt;
import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.BtfType.EnumValue;
import io.bpf4j.btf.BtfType.Member;
import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Instruction;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A program compiled against one {@code struct task}, fitted to another: each kind of relocation, in both byte orders.
 *
 * <pre>
 *   the program's                     the kernel's
 *   struct task {                     struct task {
 *     int a;            // 0            long added;         // 0
 *     int b;            // 4            struct {            // 8, anonymous
 *     unsigned c;       // 8              int b;            // 8
 *     int gone;         // 12             unsigned long c;  // 16
 *     int list[4];      // 16           };
 *     int flag : 3;     // bit 256      int a;              // 24
 *   };                                  int list[8];        // 28
 *                                       int flag : 5;       // bit 480
 *                                     };
 * </pre>
 */
class CoreRelocatorTest {
    static Stream<ByteOrder> orders() {
        return Stream.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN);
    }

    private static final class Fixture {
        final ByteOrder order;
        final BtfBuilder local = BtfBuilder.create();
        final BtfBuilder kernel = BtfBuilder.create();
        final int task;
        final int kernelTask;
        final int state;
        final int missing;

        Fixture(ByteOrder order) {
            this.order = order;
            int integer = local.integer("int", 4, BtfType.Int.SIGNED);
            int unsigned = local.integer("unsigned int", 4, 0);
            int list = local.array(integer, unsigned, 4);
            task = local.struct(
                    "task___mine",
                    36,
                    Member.at("a", integer, 0),
                    Member.at("b", integer, 4),
                    Member.at("c", unsigned, 8),
                    Member.at("gone", integer, 12),
                    Member.at("list", list, 16),
                    new Member("flag", integer, 256, 3));
            state = local.add(
                    new BtfType.Enum32("state", 4, false, List.of(new EnumValue("RUN", 1), new EnumValue("OLD", 2))));
            missing = local.struct("no_such_type", 4, Member.at("x", integer, 0));

            int kernelInt = kernel.integer("int", 4, BtfType.Int.SIGNED);
            int kernelLong = kernel.integer("long unsigned int", 8, 0);
            int kernelList = kernel.array(kernelInt, kernelLong, 8);
            int nested = kernel.struct("", 16, Member.at("b", kernelInt, 0), Member.at("c", kernelLong, 8));
            kernelTask = kernel.struct(
                    "task",
                    64,
                    Member.at("added", kernelLong, 0),
                    Member.at("", nested, 8),
                    Member.at("a", kernelInt, 24),
                    Member.at("list", kernelList, 28),
                    new Member("flag", kernelInt, 480, 5));
            kernel.add(new BtfType.Enum32("state", 4, false, List.of(new EnumValue("RUN", 5))));
        }

        CoreFixup relocate(int type, String access, CoreRelocationKind kind, List<Instruction> code) {
            int offset = local.string(access);
            Btf localBtf = local.build("object", order);
            CoreRelocator relocator = new CoreRelocator(localBtf, CoreTarget.of(kernel.build("kernel", order)));
            return relocator.relocate(new BtfExt.CoreRelocation(0, type, offset, kind.number()), code, 0);
        }

        /** What becomes of {@code r1 = value}. */
        long value(int type, String access, CoreRelocationKind kind, int value) {
            List<Instruction> code = Assembler.create().mov(1, value).exit().assemble();
            return switch (relocate(type, access, kind, code)) {
                case CoreFixup.Keep keep -> value;
                case CoreFixup.Patch patch -> patch.slots().getFirst().imm();
                case CoreFixup.Poison poison -> throw new AssertionError(poison.reason());
            };
        }
    }

    @ParameterizedTest
    @MethodSource("orders")
    void offsetsOfFields(ByteOrder order) {
        Fixture fixture = new Fixture(order);

        assertThat(fixture.value(fixture.task, "0:0", CoreRelocationKind.FIELD_BYTE_OFFSET, 0))
                .isEqualTo(24);
        assertThat(fixture.value(fixture.task, "0:1", CoreRelocationKind.FIELD_BYTE_OFFSET, 4))
                .as("inside an anonymous struct")
                .isEqualTo(8);
        assertThat(fixture.value(fixture.task, "0:4:2", CoreRelocationKind.FIELD_BYTE_OFFSET, 24))
                .as("list[2]")
                .isEqualTo(36);
    }

    @ParameterizedTest
    @MethodSource("orders")
    void aLoadGetsTheOffsetAndTheSize(ByteOrder order) {
        Fixture fixture = new Fixture(order);
        List<Instruction> load = Assembler.create().ldx(4, 1, 2, 8).exit().assemble();

        CoreFixup fixup = fixture.relocate(fixture.task, "0:2", CoreRelocationKind.FIELD_BYTE_OFFSET, load);

        List<Instruction> expected = Assembler.create().ldx(8, 1, 2, 16).exit().assemble();
        assertThat(fixup)
                .isInstanceOfSatisfying(
                        CoreFixup.Patch.class,
                        patch -> assertThat(patch.slots()).containsExactly(expected.getFirst()));
    }

    @ParameterizedTest
    @MethodSource("orders")
    void a64BitLoadGetsBothHalves(ByteOrder order) {
        Fixture fixture = new Fixture(order);
        List<Instruction> code = Assembler.create().loadImm64(1, 4).exit().assemble();

        CoreFixup fixup = fixture.relocate(fixture.task, "0:1", CoreRelocationKind.FIELD_BYTE_OFFSET, code);

        assertThat(fixup).isInstanceOfSatisfying(CoreFixup.Patch.class, patch -> {
            assertThat(patch.slots()).hasSize(2);
            assertThat(patch.slots().getFirst().imm64(patch.slots().get(1))).isEqualTo(8);
        });
    }

    @ParameterizedTest
    @MethodSource("orders")
    void sizesAndExistence(ByteOrder order) {
        Fixture fixture = new Fixture(order);

        assertThat(fixture.value(fixture.task, "0:2", CoreRelocationKind.FIELD_BYTE_SIZE, 4))
                .isEqualTo(8);
        assertThat(fixture.value(fixture.task, "0:0", CoreRelocationKind.FIELD_EXISTS, 1))
                .isEqualTo(1);
        assertThat(fixture.value(fixture.task, "0:3", CoreRelocationKind.FIELD_EXISTS, 1))
                .isZero();
        assertThat(fixture.value(fixture.task, "0:2", CoreRelocationKind.FIELD_SIGNED, 0))
                .isZero();
        assertThat(fixture.value(fixture.task, "0", CoreRelocationKind.TYPE_SIZE, 36))
                .isEqualTo(64);
        assertThat(fixture.value(fixture.task, "0", CoreRelocationKind.TYPE_EXISTS, 1))
                .isEqualTo(1);
        assertThat(fixture.value(fixture.missing, "0", CoreRelocationKind.TYPE_EXISTS, 1))
                .isZero();
        assertThat(fixture.value(fixture.task, "0", CoreRelocationKind.TYPE_ID_TARGET, fixture.task))
                .isEqualTo(fixture.kernelTask);
        assertThat(fixture.value(fixture.task, "0", CoreRelocationKind.TYPE_ID_LOCAL, fixture.task))
                .isEqualTo(fixture.task);
    }

    @ParameterizedTest
    @MethodSource("orders")
    void bitFields(ByteOrder order) {
        Fixture fixture = new Fixture(order);
        boolean little = order == ByteOrder.LITTLE_ENDIAN;
        // 3 bits at bit 256 of the program's, 5 bits at bit 480 of the kernel's: both start a 4-byte unit.
        int before = little ? 64 - 3 : 32;
        int after = little ? 64 - 5 : 32;

        assertThat(fixture.value(fixture.task, "0:5", CoreRelocationKind.FIELD_LSHIFT_U64, before))
                .isEqualTo(after);
        assertThat(fixture.value(fixture.task, "0:5", CoreRelocationKind.FIELD_RSHIFT_U64, 61))
                .isEqualTo(59);
        assertThat(fixture.value(fixture.task, "0:5", CoreRelocationKind.FIELD_BYTE_OFFSET, 32))
                .isEqualTo(60);
    }

    @ParameterizedTest
    @MethodSource("orders")
    void valuesOfEnumerations(ByteOrder order) {
        Fixture fixture = new Fixture(order);

        assertThat(fixture.value(fixture.state, "0", CoreRelocationKind.ENUMVAL_VALUE, 1))
                .isEqualTo(5);
        assertThat(fixture.value(fixture.state, "0", CoreRelocationKind.ENUMVAL_EXISTS, 1))
                .isEqualTo(1);
        assertThat(fixture.value(fixture.state, "1", CoreRelocationKind.ENUMVAL_EXISTS, 1))
                .isZero();
    }

    @ParameterizedTest
    @MethodSource("orders")
    void whatTheKernelLacksPoisonsTheInstruction(ByteOrder order) {
        Fixture fixture = new Fixture(order);
        List<Instruction> load = Assembler.create().ldx(4, 1, 2, 12).exit().assemble();

        CoreFixup fixup = fixture.relocate(fixture.task, "0:3", CoreRelocationKind.FIELD_BYTE_OFFSET, load);

        assertThat(fixup).isInstanceOfSatisfying(CoreFixup.Poison.class, poison -> {
            assertThat(poison.reason()).contains("gone");
            assertThat(poison.slots()).singleElement().satisfies(slot -> {
                assertThat(slot.isHelperCall()).isTrue();
                assertThat(slot.imm()).isEqualTo(CoreFixup.POISON_HELPER);
            });
        });
    }

    @ParameterizedTest
    @MethodSource("orders")
    void twoAnswersAreNone(ByteOrder order) {
        Fixture fixture = new Fixture(order);
        int integer = 1;
        fixture.kernel.struct("task", 8, Member.at("a", integer, 4));

        assertThatThrownBy(() -> fixture.value(fixture.task, "0:0", CoreRelocationKind.FIELD_BYTE_OFFSET, 0))
                .isInstanceOf(CoreException.class)
                .hasMessageContaining("task");
    }

    @ParameterizedTest
    @MethodSource("orders")
    void codeThatDoesNotBelongToItsTypesIsRefused(ByteOrder order) {
        Fixture fixture = new Fixture(order);

        assertThatThrownBy(() -> fixture.value(fixture.task, "0:1", CoreRelocationKind.FIELD_BYTE_OFFSET, 99))
                .isInstanceOf(CoreException.class)
                .hasMessageContaining("99");
        assertThatThrownBy(() -> fixture.value(fixture.task, "0:77", CoreRelocationKind.FIELD_BYTE_OFFSET, 0))
                .isInstanceOf(CoreException.class)
                .hasMessageContaining("there is no member 77 in struct task___mine");
    }
}
