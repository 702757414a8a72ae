package io.bpf4j.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import com.palantir.javapoet.ClassName;
import io.bpf4j.bindings.NamedType.Member;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.error.InvalidObjectException;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Types that one C file can't have, or no compiler writes. */
class TypeModelTest {
    private final BtfBuilder types = BtfBuilder.create();
    private final int u32 = types.integer("unsigned int", 4, 0);
    private final int u8 = types.integer("unsigned char", 1, 0);

    private TypeModel model() {
        return new TypeModel(
                types.build("types.o", ByteOrder.nativeOrder()),
                ClassName.get("", "Outer"),
                new JavaNames(Set.of("Outer", "String")));
    }

    private static List<String> classes(TypeModel model) {
        return model.all().stream().map(type -> type.className().simpleName()).toList();
    }

    private int struct(String name, String member) {
        return types.struct(name, 4, BtfType.Member.at(member, u32, 0));
    }

    @Test
    void differentTypesOfOneNameAreTwoClasses() {
        int first = struct("event", "a");
        int second = struct("event", "b");
        int third = types.union("event", 4, BtfType.Member.at("a", u32, 0));
        int again = struct("event", "a");
        TypeModel model = model();
        IntStream.of(first, second, third, again).forEach(id -> model.shape(id, "Nameless"));
        assertThat(classes(model)).containsExactly("Event", "EventStruct", "EventUnion");
        assertThat(model.shape(again, "Nameless").orElseThrow().type())
                .isEqualTo(model.shape(first, "Nameless").orElseThrow().type());
    }

    /** Both have members of equal names, sizes and places; only the contents of the members differ. */
    @Test
    void typesThatDifferDeepInsideAreTwoClasses() {
        int first = types.struct("outer", 4, BtfType.Member.at("inner", struct("inner", "a"), 0));
        int second = types.struct("outer", 4, BtfType.Member.at("inner", struct("inner", "b"), 0));
        TypeModel model = model();
        model.shape(first, "Nameless");
        model.shape(second, "Nameless");
        assertThat(classes(model)).containsExactly("OuterStruct", "Inner", "OuterStruct2", "InnerStruct");
    }

    @Test
    void aTypeWithoutANameHasThatOfItsTypedefOrPlace() {
        int nameless = types.struct("", 4, BtfType.Member.at("x", u32, 0));
        int inside = types.struct("", 4, BtfType.Member.at("y", u32, 0));
        int typedef = types.typedef("point_t", types.typedef("inner_t", nameless));
        int outer =
                types.struct("string", 8, BtfType.Member.at("at", typedef, 0), BtfType.Member.at("rest", inside, 4));
        TypeModel model = model();
        model.shape(outer, "Nameless");
        assertThat(classes(model)).containsExactly("StringStruct", "InnerT", "StringStructRest");
        TypeModel alone = model();
        alone.shape(nameless, "CountsValue");
        assertThat(classes(alone)).containsExactly("CountsValue");
    }

    @Test
    void membersOfNamelessStructsAreThoseOfTheOuterOne() {
        int struct = types.struct("", 4, BtfType.Member.at("x", u32, 0));
        int union = types.union("", 4, BtfType.Member.at("y", u32, 0), BtfType.Member.at("z", u8, 0));
        int outer = types.struct(
                "outer",
                16,
                BtfType.Member.at("", struct, 0),
                BtfType.Member.at("", union, 4),
                BtfType.Member.at("", union, 8),
                BtfType.Member.at("x_", u32, 12));
        TypeModel model = model();
        model.shape(outer, "Nameless");
        assertThat(model.all().getFirst().members())
                .extracting(Member::name, Member::offset)
                .containsExactly(tuple("x", 0L), tuple("union1", 4L), tuple("union2", 8L), tuple("x2", 12L));
    }

    /** As compilers wrote them before Linux 5.0. */
    @Test
    void aBitFieldMayBeAPropertyOfItsInteger() {
        int bits = types.add(new BtfType.Int("unsigned int", 4, 0, 0, 3));
        int outer = types.struct("outer", 4, BtfType.Member.at("low", bits, 0), new BtfType.Member("high", bits, 3, 0));
        TypeModel model = model();
        model.shape(outer, "Nameless");
        assertThat(model.all().getFirst().members())
                .extracting(Member::bit, Member::bits)
                .containsExactly(tuple(0L, 3), tuple(3L, 3));
    }

    /** A constructor has at most 255 parameters, and each long counts as two. */
    @Test
    void aStructOfTooManyMembersIsItsBytes() {
        BtfType.Member[] members = IntStream.range(0, 126)
                .mapToObj(i -> BtfType.Member.at("m" + i, u32, 4L * i))
                .toArray(BtfType.Member[]::new);
        int fits = types.struct("fits", 125 * 4, Arrays.copyOf(members, 125));
        int large = types.struct("large", 126 * 4, members);
        TypeModel model = model();
        model.shape(fits, "Nameless");
        model.shape(large, "Nameless");
        assertThat(model.all()).extracting(NamedType::isBytes).containsExactly(false, true);
    }

    @Test
    void typesInThemselvesAreRefused() {
        int self = types.nextId();
        types.struct("self", 4, BtfType.Member.at("again", self, 0));
        int nameless = types.nextId();
        types.struct("", 4, BtfType.Member.at("", nameless, 0));
        int array = types.nextId();
        types.array(array, u32, 2);
        int holder = types.struct("holder", 8, BtfType.Member.at("data", array, 0));
        assertThatThrownBy(() -> model().shape(self, "Nameless"))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("types.o: types are nested more than 16 deep");
        assertThatThrownBy(() -> model().shape(nameless, "Nameless")).isInstanceOf(InvalidObjectException.class);
        assertThat(model().shape(holder, "Nameless")).isPresent();
        int bad = types.struct("bad", 8, new BtfType.Member("middle", u32, 4, 0));
        assertThatThrownBy(() -> model().shape(bad, "Nameless"))
                .hasMessageContaining("member middle of struct bad starts at bit 4");
    }

    @Test
    void whatHasNoSizeHasNoShape() {
        TypeModel model = model();
        assertThat(model.shape(0, "Nameless")).isEmpty();
        int empty = types.struct("empty", 0);
        int none = types.array(u32, u32, 0);
        assertThat(model().shape(empty, "Nameless")).isEmpty();
        assertThat(model().shape(none, "Nameless")).isEmpty();
    }
}
