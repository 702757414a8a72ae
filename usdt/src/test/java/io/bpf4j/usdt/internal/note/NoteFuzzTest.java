package io.bpf4j.usdt.internal.note;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.test.fuzz.FuzzTarget;
import io.bpf4j.test.fuzz.Limits;
import io.bpf4j.usdt.StapsdtElf;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtArg;
import io.bpf4j.usdt.site.UsdtSite;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/**
 * Any bytes where notes should be are sites that lie in the file, and problems. The note before them is read whatever
 * follows it, and the arguments of a site are those of its text.
 *
 * <p>An input is a byte with the form of the file, more segments of 13 bytes each, and the bytes of the notes.
 */
class NoteFuzzTest extends FuzzTarget {
    private static final int SEGMENT_BYTES = 13;
    private static final int MAX_SEGMENTS = 8;
    private static final int IS_32 = 1;
    private static final int IS_BIG = 2;
    private static final int IS_COMPRESSED = 4;

    @Override
    protected List<byte[]> seeds() {
        return List.of(
                input(0, new byte[0], notes(true, ByteOrder.LITTLE_ENDIAN, 2)),
                input(IS_32, new byte[0], notes(false, ByteOrder.LITTLE_ENDIAN, 1)),
                input(IS_BIG, segment(5, 0x1000, 0x9000, 0x100), notes(true, ByteOrder.BIG_ENDIAN, 1)),
                input(IS_COMPRESSED, segment(6, 0x3000, 0xa000, 0x100), notes(true, ByteOrder.LITTLE_ENDIAN, 3)));
    }

    private static byte[] input(int form, byte[] segments, byte[] notes) {
        byte[] first = new byte[segments.length + 1];
        first[0] = (byte) form;
        System.arraycopy(segments, 0, first, 1, segments.length);
        return joined(first, notes);
    }

    private static byte[] segment(int flags, int offset, int address, int size) {
        return ByteBuffer.allocate(SEGMENT_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put((byte) flags)
                .putInt(offset)
                .putInt(address)
                .putInt(size)
                .array();
    }

    /** The bytes of so many notes. */
    private static byte[] notes(boolean is64, ByteOrder order, int count) {
        ByteBuffer notes = ByteBuffer.allocate(count * 80).order(order);
        for (int i = 0; i < count; i++) {
            byte[] text = bytes("provider\0name" + (10_000 + i) + "\0" + "-4@%eax sym\0");
            notes.putInt(8).putInt((is64 ? 24 : 12) + text.length).putInt(3).put(bytes("stapsdt\0"));
            for (long word :
                    new long[] {StapsdtElf.CODE + 16 + i % 64, StapsdtElf.BASE, i % 2 == 0 ? 0 : StapsdtElf.DATA}) {
                if (is64) {
                    notes.putLong(word);
                } else {
                    notes.putInt((int) word);
                }
            }
            notes.put(text);
            while (notes.position() % 4 != 0) {
                notes.put((byte) 0);
            }
        }
        return Arrays.copyOf(notes.array(), notes.position());
    }

    @Override
    protected List<String> words() {
        return List.of("stapsdt\0", "\0", "8@%rdi", "provider\0");
    }

    /** The file has some 16 KiB around the notes; compressed ones may expand up to its size. */
    @Override
    protected Limits limits() {
        return Limits.USUAL.withBytes(2 << 20, 5_000);
    }

    @Override
    protected void read(byte[] input) {
        byte[][] parts = parts(input, 2);
        int form = parts[0].length == 0 ? 0 : parts[0][0];
        boolean is64 = (form & IS_32) == 0;
        StapsdtElf file = new StapsdtElf(
                is64, (form & IS_BIG) == 0 ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN, is64 ? 62 : 3);
        if (is64 && (form & IS_COMPRESSED) != 0) {
            file.compressedNotes();
        }
        ByteBuffer segments = ByteBuffer.wrap(parts[0]).order(ByteOrder.LITTLE_ENDIAN);
        segments.position(Math.min(1, parts[0].length));
        int more = 0;
        while (segments.remaining() >= SEGMENT_BYTES && more++ < MAX_SEGMENTS) {
            file.segment(
                    segments.get(),
                    Integer.toUnsignedLong(segments.getInt()),
                    Integer.toUnsignedLong(segments.getInt()),
                    Integer.toUnsignedLong(segments.getInt()));
        }
        byte[] bytes = file.note("p", "first", "8@%rax", StapsdtElf.CODE, 0)
                .symbol("sym", StapsdtElf.DATA, 1)
                .rawNotes(parts[1])
                .build();
        Machine machine = is64 ? Machine.X86_64 : Machine.I386;
        try (ElfFile elf = ElfFile.parse("fuzzed", bytes)) {
            NoteScan scan = StapsdtReader.read(elf, machine);
            assertThat(scan.problems()).hasSizeLessThanOrEqualTo(NoteLimits.MAX_PROBLEMS + 1);
            if (more == 0) {
                assertThat(scan.probes().getFirst().name()).isEqualTo("first");
            }
            for (NoteScan.Probe probe : scan.probes()) {
                assertThat(probe.provider()).isNotEmpty();
                assertThat(probe.name()).isNotEmpty();
                assertThat(probe.sites()).isNotEmpty();
                for (UsdtSite site : probe.sites()) {
                    assertThat(site.fileOffset()).isBetween(0L, bytes.length - 1L);
                    assertThat(site.semaphoreOffset()).isBetween(0L, bytes.length - 2L);
                    assertThat(site.semaphoreOffset() % 2).isZero();
                    assertThat(site.args()).isEqualTo(UsdtArg.parse(machine, site.arguments()));
                }
            }
        } catch (MalformedDataException e) {
            // Only of the file around the notes.
            assertThat(more).isPositive();
        }
    }

    @Override
    protected List<Growth> growths() {
        return List.of(
                new Growth(
                        "notes with names of their own",
                        count -> input(0, new byte[0], notes(true, ByteOrder.LITTLE_ENDIAN, count))),
                new Growth("headers of empty notes", count -> {
                    ByteBuffer notes = ByteBuffer.allocate(20 * count).order(ByteOrder.LITTLE_ENDIAN);
                    for (int i = 0; i < count; i++) {
                        notes.putInt(8).putInt(0).putInt(3).put(bytes("stapsdt\0"));
                    }
                    return input(0, new byte[0], notes.array());
                }));
    }
}
