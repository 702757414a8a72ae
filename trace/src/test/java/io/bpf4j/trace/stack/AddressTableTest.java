package io.bpf4j.trace.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AddressTableTest {
    private final AddressTable.Builder builder = new AddressTable.Builder(1 << 20);

    @Test
    void anAddressIsInTheFunctionThatContainsIt() {
        add(0x200, 0x10, "b", 0);
        add(0x100, 0x20, "a", 0);
        AddressTable table = builder.build();
        assertThat(name(table, 0x100)).isEqualTo("a");
        assertThat(name(table, 0x11f)).isEqualTo("a");
        assertThat(name(table, 0x120)).isEmpty();
        assertThat(name(table, 0xff)).isEmpty();
        assertThat(name(table, 0x20f)).isEqualTo("b");
        assertThat(name(table, Long.MAX_VALUE)).isEmpty();
        assertThat(name(table, -1)).isEmpty();
    }

    @Test
    void aFunctionWithoutSizeReachesToTheNext() {
        add(0x100, 0, "label", 0);
        add(0x5000, 0, "last", 0);
        AddressTable table = builder.build();
        assertThat(name(table, 0x4fff)).isEqualTo("label");
        assertThat(name(table, 0x5fff)).isEqualTo("last");
        assertThat(name(table, 0x5000 + (1 << 20))).as("too far from anything").isEmpty();
    }

    @Test
    void theInnerOneIsFoundFirst() {
        add(0x100, 0x100, "outer", 0);
        add(0x140, 0x10, "inner", 0);
        AddressTable table = builder.build();
        assertThat(name(table, 0x13f)).isEqualTo("outer");
        assertThat(name(table, 0x148)).isEqualTo("inner");
        assertThat(name(table, 0x150)).isEqualTo("outer");
    }

    @Test
    void ofTwoNamesTheOneWithTheHigherRankIsKept() {
        add(0x100, 8, "low", 1);
        add(0x100, 8, "high", 2);
        add(0x100, 8, "alsoLow", 1);
        assertThat(name(builder.build(), 0x100)).isEqualTo("high");
    }

    @Test
    void newerCodeReplacesWhatItOverlaps() {
        add(0x100, 0x100, "first", 0);
        add(0x180, 0x100, "overFirst", 1);
        add(0x300, 0x10, "freed", 2);
        add(0x320, 0x10, "freedToo", 3);
        add(0x2f0, 0x60, "overBoth", 4);
        add(0x400, 0x100, "kept", 6);
        add(0x480, 0x10, "older", 5);
        AddressTable table = builder.buildNewest();
        assertThat(name(table, 0x110)).isEmpty();
        assertThat(name(table, 0x190)).isEqualTo("overFirst");
        assertThat(name(table, 0x305)).isEqualTo("overBoth");
        assertThat(name(table, 0x325)).isEqualTo("overBoth");
        assertThat(name(table, 0x485)).isEqualTo("kept");
        assertThat(table.count()).isEqualTo(3);
    }

    @Test
    void namesBeyondTheLimitAreLeftOut() {
        AddressTable.Builder small = new AddressTable.Builder(10);
        small.add(1, 1, "12345".getBytes(StandardCharsets.UTF_8), 0);
        small.add(2, 1, "1234".getBytes(StandardCharsets.UTF_8), 0);
        small.add(3, 1, "123".getBytes(StandardCharsets.UTF_8), 0);
        small.add(4, 1, new byte[0], 0);
        AddressTable table = small.build();
        assertThat(table.count()).isEqualTo(2);
        assertThat(name(table, 3)).isEqualTo("123");
    }

    @Test
    void manyAreFoundAsOneByOne() {
        Random random = new Random(7);
        for (int i = 0; i < 1000; i++) {
            add(0x1000 + 16L * i, 1 + random.nextInt(16), "f" + i, 0);
        }
        AddressTable table = builder.build();
        for (int i = 0; i < 1000; i++) {
            assertThat(name(table, 0x1000 + 16L * i)).isEqualTo("f" + i);
        }
    }

    private void add(long start, long size, String name, int rank) {
        builder.add(start, size, name.getBytes(StandardCharsets.UTF_8), rank);
    }

    private static String name(AddressTable table, long address) {
        int index = table.find(address);
        return index < 0 ? "" : table.name(index);
    }
}
