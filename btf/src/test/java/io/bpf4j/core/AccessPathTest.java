package io.bpf4j.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.BtfType.EnumValue;
import io.bpf4j.btf.BtfType.Member;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Access strings: where they lead, and what is said of those that lead nowhere.
 *
 * <pre>
 *   struct s {
 *     int a;           // 0
 *     int list[4];     // 4
 *     int none[0];     // 20, not the last
 *     int b;           // 20
 *     int rest[];      // 24
 *   };
 * </pre>
 */
class AccessPathTest {
    private static final CoreRelocationKind OFFSET = CoreRelocationKind.FIELD_BYTE_OFFSET;

    private final BtfBuilder types = BtfBuilder.create();
    private final int integer = types.integer("int", 4, BtfType.Int.SIGNED);
    private final int struct = types.struct(
            "s",
            24,
            Member.at("a", integer, 0),
            Member.at("list", types.array(integer, integer, 4), 4),
            Member.at("none", types.array(integer, integer, 0), 20),
            Member.at("b", integer, 20),
            Member.at("rest", types.array(integer, integer, 0), 24));
    private final int state =
            types.add(new BtfType.Enum32("state", 4, false, List.of(new EnumValue("A", 1), new EnumValue("B", 2))));

    private AccessPath path(int root, String access, CoreRelocationKind kind) {
        return AccessPath.parse(new Types(types.build("object", ByteOrder.LITTLE_ENDIAN)), root, access, kind);
    }

    private void refused(int root, String access, CoreRelocationKind kind, String problem) {
        assertThatThrownBy(() -> path(root, access, kind))
                .isInstanceOf(CoreException.class)
                .hasMessageContaining(problem)
                .hasMessageContaining("access string \"" + access.substring(0, Math.min(20, access.length())));
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "0:0, 0", "0:1:3, 16", "0:3, 20", "2, 48", "2:1:1, 56", "0:4:9, 60"})
    void placesInBytes(String access, long expected) {
        assertThat(path(struct, access, OFFSET).bitOffset()).isEqualTo(expected * 8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ":", ":0", "0:", "0:0:", "0::1", "-1", "0:-1", "0:x", "x", "0 ", " 0", "0x1", "0,1"})
    void textsThatAreNoIndexes(String access) {
        refused(struct, access, OFFSET, "is not an index");
    }

    @ParameterizedTest
    @ValueSource(strings = {"2147483648", "4294967296", "0:99999999999999999999"})
    void numbersBeyondAnyIndex(String access) {
        refused(struct, access, OFFSET, "is not an index");
    }

    @Test
    void noMoreThanSixtyFourIndexes() {
        int nested = integer;
        for (int i = 0; i < AccessPath.MAX_LENGTH; i++) {
            nested = types.struct("s" + i, 4, Member.at("m", nested, 0));
        }
        String most = String.join(":", Collections.nCopies(AccessPath.MAX_LENGTH, "0"));
        assertThat(path(nested, most, OFFSET).raw()).hasSize(64);
        refused(nested, most + ":0", OFFSET, "more than 64 indexes");
        refused(nested, most + ":", OFFSET, "more than 64 indexes");
        refused(nested, "1".repeat(5_000), OFFSET, "more than 704 characters");
    }

    @Test
    void partsThatAreNotThere() {
        refused(struct, "0:1:4", OFFSET, "there is no element 4 in an array of 4");
        refused(struct, "0:2:0", OFFSET, "there is no element 0 in an array of 0");
        refused(struct, "0:5", OFFSET, "there is no member 5 in struct s");
        refused(struct, "0:0:0", OFFSET, "index 0 applies to a INT, which has no members or elements");
    }

    @Test
    void sumsDontOverflow() {
        int last = Integer.MAX_VALUE;
        assertThat(path(struct, last + ":4:" + last, OFFSET).bitOffset()).isEqualTo(8 * (24L * last + 24 + 4L * last));
        int large = types.struct("large", 4096, Member.at("a", integer, 0));
        assertThatThrownBy(() -> path(large, last + ":0", OFFSET))
                .isInstanceOf(CoreException.class)
                .hasMessageContaining("has an offset that is too large for a field");
    }

    @Test
    void typesAndValuesHaveOneIndex() {
        assertThat(path(struct, "0", CoreRelocationKind.TYPE_SIZE).steps()).isEmpty();
        refused(struct, "1", CoreRelocationKind.TYPE_SIZE, "for a type it should be 0");
        refused(struct, "0:0", CoreRelocationKind.TYPE_EXISTS, "for a type it should be 0");
        assertThat(path(state, "1", CoreRelocationKind.ENUMVAL_VALUE).last().name())
                .isEqualTo("B");
        refused(state, "2", CoreRelocationKind.ENUMVAL_VALUE, "it does not select a value of an enumeration");
        refused(state, "0:0", CoreRelocationKind.ENUMVAL_EXISTS, "it does not select a value of an enumeration");
        refused(struct, "0", CoreRelocationKind.ENUMVAL_VALUE, "it does not select a value of an enumeration");
    }
}
