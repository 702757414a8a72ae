package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.error.UnknownNameException;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.Codec.Length;
import io.bpf4j.loader.map.Codec.Name;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Records beside the structs of maps.bpf.c: what fits reads and writes right, and the rest is refused before any read.
 */
@Requires(Requirement.BPF)
@ExtendWith(LeakCheck.class)
@Timeout(300)
class TypedViewsOnKernelTest {
    record Key(int kind, int number) {}

    record Value(long sum, int touched, int cpu) {}

    record Entry(long run, long found) {}

    record SwappedKey(int number, int kind) {}

    record SwappedValue(long sum, int cpu, int touched) {}

    record SwappedEntry(long found, long run) {}

    record Renamed(@Name("sum") long total, int touched, int cpu) {}

    record Pair(byte small, long large) {}

    record Unsigned(char small, long large) {}

    @Test
    void valuesAreThoseOfTheProgram() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = Bpf.load("maps.bpf.o", l -> Bpf.only(l, target.pid()));
                Link link = object.program("maps").attach(Uprobe.entry(target.path(), "poke"));
                RingBuffer ring = RingBuffer.open(object.map("ring"))) {
            assertThat(link.isClosed()).isFalse();
            TypedMap<Key, Value> hash =
                    TypedMap.of(object.map("hash"), Codec.ofRecord(Key.class), Codec.ofRecord(Value.class));
            hash.put(new Key(1, 100), new Value(77, 5, -1));
            target.command("poke 1");
            assertThat(hash.get(new Key(1, 100))).contains(new Value(77, 6, -1));
            assertThat(hash.get(new Key(2, 200)).orElseThrow().touched()).isEqualTo(1);
            List<Entry> entries = new ArrayList<>();
            ring.consume(object.codec(Entry.class, "record"), entries::add);
            assertThat(entries).containsExactly(new Entry(0, 77));
        }
    }

    @Test
    void aRecordWithSwappedFieldsIsRefused() {
        try (BpfObject object = Bpf.load("maps.bpf.o")) {
            assertThatThrownBy(() -> TypedMap.of(
                            object.map("hash"), Codec.ofRecord(Key.class), Codec.ofRecord(SwappedValue.class)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith(
                            "map \"hash\": the codec does not match its values: component \"cpu\" (int at byte 8)"
                                    + " corresponds to field \"cpu\", which is at byte 12")
                    .hasMessageContaining("struct value { __u64 sum @0; __u32 touched @8; __u32 cpu @12; } (16 bytes)")
                    .hasMessageContaining("SwappedValue(long sum @0, int cpu @8, int touched @12) (16 bytes)")
                    .hasMessageContaining("@Codec.Name");
            assertThatThrownBy(
                            () -> TypedMap.of(object.map("hash"), Codec.ofRecord(SwappedKey.class), Codec.ofBytes(16)))
                    .hasMessageContaining("the codec does not match its keys: component \"number\"");
            assertThatThrownBy(() -> TypedMap.of(object.map("hash"), Codec.ofLong(), Codec.ofBytes(16)))
                    .hasMessageContaining("struct key is not an integer");
            assertThatThrownBy(() -> TypedMap.of(object.map("hash"), Codec.ofInt(), Codec.ofBytes(16)))
                    .hasMessageContaining("map \"hash\" has a key of 8 bytes, struct key { __u32 kind @0;");
            assertThatThrownBy(() -> TypedMap.perCpu(object.map("per_cpu"), Codec.ofInt(), Codec.ofRecord(Key.class)))
                    .hasMessageContaining("map \"per_cpu\"")
                    .hasMessageContaining("__u64 is not a struct");
            assertThat(TypedMap.of(object.map("hash"), Codec.ofRecord(Key.class), Codec.ofRecord(Renamed.class)))
                    .isNotNull();
        }
    }

    @Test
    void recordsOfRingsAreComparedByTheNameOfTheStruct() {
        try (BpfObject object = Bpf.load("maps.bpf.o")) {
            assertThat(object.codec(Entry.class, "record").size()).isEqualTo(16);
            assertThatThrownBy(() -> object.codec(SwappedEntry.class, "record"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("maps.bpf.o")
                    .hasMessageContaining(
                            "component \"found\" (long at byte 0) corresponds to field \"found\", which is at byte 8");
            assertThatThrownBy(() -> object.codec(Entry.class, "event"))
                    .isInstanceOf(UnknownNameException.class)
                    .hasMessageContaining("struct event *unused_event __attribute__((unused));");
        }
    }

    @Test
    void aVariableIsComparedBeforeItIsReadOrWritten() {
        try (BpfObject object = Bpf.load("globals.bpf.o")) {
            assertThat(object.global("pair_out").get(Codec.ofRecord(Pair.class)))
                    .isEqualTo(new Pair((byte) 1, 2));
            assertThatThrownBy(() -> object.global("pair_out").get(Codec.ofRecord(Unsigned.class)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("variable pair_out")
                    .hasMessageContaining("component \"small\" (char at byte 0)");
            assertThatThrownBy(() -> object.global("pair_out").set(Codec.ofRecord(Named.class), new Named((byte) 9, 9)))
                    .hasMessageContaining("component \"length\"");
            assertThat(object.global("pair_out").get(Codec.ofRecord(Pair.class)))
                    .isEqualTo(new Pair((byte) 1, 2));
            assertThat(object.global("text").get(Codec.ofString(8))).isEqualTo("bpf4j");
            assertThat(object.global("table").get(Codec.ofRecord(Table.class)).all())
                    .containsExactly(1, 2, 3, 4);
        }
    }

    record Named(byte small, long length) {}

    @SuppressWarnings("ArrayRecordComponent") // compared by its elements
    record Table(@Length(4) int[] all) {}
}
