package io.bpf4j.btf;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.insn.Instruction;
import io.bpf4j.test.fuzz.FuzzTarget;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/** Any bytes are the tables of {@code .BTF.ext} or malformed; each record is where its bytes say. */
class BtfExtFuzzTest extends FuzzTarget {
    private static final Btf TYPES;
    private static final int FIRST;
    private static final int SECOND;

    static {
        BtfBuilder types = BtfSeeds.everyKind();
        FIRST = types.string("usdt");
        SECOND = types.string("tp/sched/sched_switch");
        TYPES = types.build("types", ByteOrder.LITTLE_ENDIAN);
    }

    /** Three tables, each with so many sections of one record. */
    private static byte[] ext(int sections, int... recordSizes) {
        ByteBuffer ext = ByteBuffer.allocate(1 << 20).order(ByteOrder.LITTLE_ENDIAN);
        ext.putShort((short) 0xeb9f).put((byte) 1).put((byte) 0).putInt(32);
        int start = 0;
        for (int size : recordSizes) {
            int bytes = 4 + sections * (8 + size);
            ext.putInt(start).putInt(bytes);
            start += bytes;
        }
        for (int size : recordSizes) {
            ext.putInt(size);
            for (int i = 0; i < sections; i++) {
                ext.putInt(i % 2 == 0 ? FIRST : SECOND).putInt(1).putInt(8 * i);
                for (int at = 4; at < size; at += 4) {
                    ext.putInt(4);
                }
            }
        }
        return Arrays.copyOf(ext.array(), ext.position());
    }

    @Override
    protected List<byte[]> seeds() {
        return List.of(ext(1, 8, 16, 16), ext(3, 8, 16, 16), ext(2, 12, 20, 252));
    }

    @Override
    protected void read(byte[] input) {
        BtfExt ext;
        try {
            ext = BtfExt.parse(ByteView.of("fuzzed", input, ByteOrder.LITTLE_ENDIAN), TYPES);
        } catch (MalformedDataException e) {
            assertThat(e.source()).isIn("fuzzed", "types");
            return;
        }
        check(ext.functions(), BtfExt.FuncInfo::offset);
        check(ext.lines(), BtfExt.LineInfo::offset);
        check(ext.relocations(), BtfExt.CoreRelocation::offset);
    }

    private interface Place<T> {
        long of(T entry);
    }

    private static <T> void check(BtfExt.Table<T> table, Place<T> place) {
        long records = 0;
        for (BtfExt.Section<T> section : table.sections()) {
            assertThat(section.name()).isNotEmpty();
            assertThat(section.raw().size()).isEqualTo((long) section.records().size() * table.recordSize());
            for (int i = 0; i < section.records().size(); i++) {
                long offset = place.of(section.records().get(i));
                assertThat(offset % Instruction.SIZE).isZero();
                assertThat(offset).isEqualTo(section.raw().u32((long) i * table.recordSize()));
            }
            records += section.records().size();
        }
        assertThat(table.sections().stream()
                        .map(BtfExt.Section::name)
                        .distinct()
                        .mapToLong(name -> table.of(name).size())
                        .sum())
                .isEqualTo(records);
    }

    @Override
    protected List<Growth> growths() {
        return List.of(new Growth("sections with two names", count -> ext(count, 8, 16, 16)));
    }
}
