package io.bpf4j.btf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.BtfType.Member;
import io.bpf4j.elf.MalformedDataException;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class DistilledBaseTest {
    private static final ByteOrder LITTLE = ByteOrder.LITTLE_ENDIAN;

    static Stream<ByteOrder> orders() {
        return Stream.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN);
    }

    /**
     * [1] unused, [2] int, [3] list_head of 16 bytes, [4] task_struct, [5] a 64-bit enum, [6] a typedef of one's name.
     */
    private static BtfBuilder kernel() {
        BtfBuilder types = BtfBuilder.create();
        types.typedef("list_head", 0);
        types.integer("int", 4, BtfType.Int.SIGNED);
        types.struct("list_head", 16);
        types.struct("task_struct", 9408);
        types.add(new BtfType.Enum64("flags", 8, false, List.of(new BtfType.EnumValue("A", 1L << 40))));
        types.typedef("task_struct", 2);
        return types;
    }

    /** [1] list_head, [2] int, [3] task_struct without its size, [4] the enum as one of 32 bits. */
    private static BtfBuilder distilled() {
        BtfBuilder types = BtfBuilder.create();
        types.struct("list_head", 16);
        types.integer("int", 4, BtfType.Int.SIGNED);
        types.add(new BtfType.Fwd("task_struct", false));
        types.add(new BtfType.Enum32("flags", 8, false, List.of()));
        return types;
    }

    /** A struct, a pointer, a function: of the base's types and of its own. */
    private static Btf split(Btf base) {
        BtfBuilder types = BtfBuilder.split(base);
        int first = types.nextId();
        types.struct("mine", 40, Member.at("list", 1, 0), Member.at("task", first + 1, 16), Member.at("flags", 4, 24));
        types.pointer(3);
        int prototype = types.add(new BtfType.FuncProto(2, List.of(new BtfType.Parameter("of", first + 1))));
        types.add(new BtfType.Func("call", prototype, 1));
        types.add(new BtfType.DeclTag("tag", prototype + 1, -1, false));
        return types.build("module", base.order());
    }

    @ParameterizedTest
    @MethodSource("orders")
    void typesAreFoundAgainByName(ByteOrder order) {
        Btf kernel = kernel().build("kernel", order);
        Btf moved = DistilledBase.relocate(split(distilled().build("base", order)), kernel);
        assertThat(moved.base()).contains(kernel);
        assertThat(moved.firstId()).isEqualTo(7);
        BtfType.Struct mine = (BtfType.Struct) moved.type(7);
        assertThat(mine.members())
                .containsExactly(Member.at("list", 3, 0), Member.at("task", 8, 16), Member.at("flags", 5, 24));
        assertThat(moved.type(8)).isEqualTo(new BtfType.Ptr(4));
        assertThat(moved.type(9)).isEqualTo(new BtfType.FuncProto(2, List.of(new BtfType.Parameter("of", 8))));
        assertThat(moved.find("call", BtfKind.FUNC)).hasValue(10);
        assertThat(moved.type(11)).isEqualTo(new BtfType.DeclTag("tag", 10, -1, false));
    }

    @Test
    void whatTheKernelLacksIsNamed() {
        BtfBuilder other = BtfBuilder.create();
        other.struct("list_head", 32);
        other.integer("int", 4, BtfType.Int.SIGNED);
        Btf kernel = other.build("kernel", LITTLE);
        Btf module = split(distilled().build("base", LITTLE));
        assertThatThrownBy(() -> DistilledBase.relocate(module, kernel))
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining(
                        "type [1] STRUCT \"list_head\" is not in kernel: the module is for another kernel");
    }

    @Test
    void twoOfOneNameAndSizeAreOneTooMany() {
        BtfBuilder twice = kernel();
        twice.struct("list_head", 16);
        Btf kernel = twice.build("kernel", LITTLE);
        Btf module = split(distilled().build("base", LITTLE));
        assertThatThrownBy(() -> DistilledBase.relocate(module, kernel))
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("is ambiguous: kernel has it as [3] and [7], both of the same size");
        // One of another size does no harm.
        BtfBuilder other = kernel();
        other.struct("list_head", 24);
        assertThat(DistilledBase.relocate(module, other.build("kernel", LITTLE)).typeCount())
                .isEqualTo(8 + 5);
    }

    @Test
    void aReferenceBeyondTheEndIsRefused() {
        Btf base = distilled().build("base", LITTLE);
        BtfBuilder types = BtfBuilder.split(base);
        types.pointer(77);
        Btf module = types.build("module", LITTLE);
        Btf kernel = kernel().build("kernel", LITTLE);
        assertThatThrownBy(() -> DistilledBase.relocate(module, kernel)).isInstanceOf(MalformedDataException.class);
    }
}
