package io.bpf4j.usdt.internal.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Golden bytes. Those of the 304-byte layout were made by clang 19 (targets bpfel and bpfeb) from a C initialiser of
 * the same field values; those of the 208-byte layout follow from a struct without bit fields.
 */
class SpecLayoutTest {
    private static final ArgSpec SIB = new ArgSpec(ArgSpec.Type.SIB, 0x1122334455667788L, 0x50, 0x123, 2, true, 32);
    private static final ArgSpec DEREFERENCE = new ArgSpec(ArgSpec.Type.DEREFERENCE, -20, 32, 0, 0, true, 56);

    @Test
    void of304LittleEndian() {
        byte[] bytes = SpecLayout.of304(ByteOrder.LITTLE_ENDIAN).encode(List.of(SIB), 0xabcdef);
        assertThat(bytes).hasSize(304);
        assertThat(hex(bytes, 0, 24)).isEqualTo("8877665544332211" + "0300232100005000" + "0120000000000000");
        assertThat(hex(bytes, 24, 288)).matches("0*");
        assertThat(hex(bytes, 288, 304)).isEqualTo("efcdab0000000000" + "0100000000000000");
    }

    @Test
    void of304BigEndian() {
        byte[] bytes = SpecLayout.of304(ByteOrder.BIG_ENDIAN).encode(List.of(SIB), 0xabcdef);
        assertThat(bytes).hasSize(304);
        assertThat(hex(bytes, 0, 24)).isEqualTo("1122334455667788" + "0000123203000050" + "0120000000000000");
        assertThat(hex(bytes, 24, 288)).matches("0*");
        assertThat(hex(bytes, 288, 304)).isEqualTo("0000000000abcdef" + "0001000000000000");
    }

    /** What bpf4j's own usdt.h has beyond libbpf's: which part of the index register counts. */
    static SpecLayout withIndexSize() {
        SpecLayout libbpfs = SpecLayout.of304(ByteOrder.LITTLE_ENDIAN);
        Map<String, SpecLayout.Field> fields = new HashMap<>(libbpfs.argFields());
        fields.put("idx_bitshift", new SpecLayout.Field(96, 8));
        fields.put("idx_signed", new SpecLayout.Field(104, 8));
        return new SpecLayout(
                libbpfs.order(),
                libbpfs.size(),
                libbpfs.maxArgs(),
                libbpfs.argSize(),
                fields,
                libbpfs.cookie(),
                libbpfs.argCount());
    }

    @Test
    void halfOfAnIndexRegister() {
        ArgSpec half = new ArgSpec(ArgSpec.Type.SIB, 0, 8, 0, 2, -4, false, 32, null);
        List<ArgSpec> args = List.of(SIB, half);
        byte[] bytes = withIndexSize().encode(args, 0);
        assertThat(hex(bytes, 0, 24))
                .as("all of it")
                .isEqualTo("8877665544332211" + "0300232100005000" + "0120000000000000");
        assertThat(hex(bytes, 24, 48)).isEqualTo("0000000000000000" + "0300002020010800" + "0020000000000000");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SpecLayout.of304(ByteOrder.LITTLE_ENDIAN).encode(args, 0));
    }

    @Test
    void of208LittleEndian() {
        byte[] bytes =
                SpecLayout.of208(ByteOrder.LITTLE_ENDIAN).encode(List.of(ArgSpec.unreadable(""), DEREFERENCE), 7);
        assertThat(bytes).hasSize(208);
        assertThat(hex(bytes, 0, 16)).isEqualTo("0000000000000000" + "7f00000000000000");
        assertThat(hex(bytes, 16, 32)).isEqualTo("ecffffffffffffff" + "0200000020000138");
        assertThat(hex(bytes, 32, 192)).matches("0*");
        assertThat(hex(bytes, 192, 208)).isEqualTo("0700000000000000" + "0200000000000000");
    }

    @Test
    void of208BigEndian() {
        byte[] bytes = SpecLayout.of208(ByteOrder.BIG_ENDIAN).encode(List.of(DEREFERENCE), 7);
        assertThat(hex(bytes, 0, 16)).isEqualTo("ffffffffffffffec" + "0000000200200138");
        assertThat(hex(bytes, 192, 208)).isEqualTo("0000000000000007" + "0001000000000000");
    }

    @Test
    void theTypeOfAnUnreadableArgumentIsUnknownToEveryVersion() {
        byte[] bytes = SpecLayout.of304(ByteOrder.LITTLE_ENDIAN).encode(List.of(ArgSpec.unreadable("")), 0);
        assertThat(bytes[8]).isEqualTo((byte) 0x7f);
        bytes = SpecLayout.of304(ByteOrder.BIG_ENDIAN).encode(List.of(ArgSpec.unreadable("")), 0);
        assertThat(bytes[12]).isEqualTo((byte) 0x7f);
    }

    @Test
    void theSmallLayoutHasNoIndex() {
        SpecLayout layout = SpecLayout.of208(ByteOrder.LITTLE_ENDIAN);
        assertThat(layout.hasIndex()).isFalse();
        assertThatIllegalArgumentException().isThrownBy(() -> layout.encode(List.of(SIB), 0));
    }

    @Test
    void thirteenArgumentsDoNotFit() {
        List<ArgSpec> args = java.util.Collections.nCopies(13, DEREFERENCE);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SpecLayout.of304(ByteOrder.LITTLE_ENDIAN).encode(args, 0));
    }

    @Test
    void theSizeOfTheValueTellsTheLayout() {
        assertThat(SpecLayout.ofValueSize(208, ByteOrder.LITTLE_ENDIAN))
                .hasValue(SpecLayout.of208(ByteOrder.LITTLE_ENDIAN));
        assertThat(SpecLayout.ofValueSize(304, ByteOrder.BIG_ENDIAN)).hasValue(SpecLayout.of304(ByteOrder.BIG_ENDIAN));
        assertThat(SpecLayout.ofValueSize(256, ByteOrder.LITTLE_ENDIAN)).isEmpty();
    }

    private static String hex(byte[] bytes, int from, int to) {
        return HexFormat.of().formatHex(Arrays.copyOfRange(bytes, from, to));
    }
}
