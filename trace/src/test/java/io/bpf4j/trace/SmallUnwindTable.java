package io.bpf4j.trace;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Makes tables as in {@code .eh_frame}, as gcc writes them for x86-64: addresses are relative, with 32 bits. */
final class SmallUnwindTable {
    /** Where the table is loaded. */
    static final long START = 0x2000;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private int common;

    /** What functions have in common; the CFA is {@code rsp} + 8, and the return address is below it. */
    SmallUnwindTable common(String augmentation, String data) {
        common = bytes.size();
        ByteArrayOutputStream entry = new ByteArrayOutputStream();
        write(entry, "01"); // version
        entry.writeBytes((augmentation + "\0").getBytes(StandardCharsets.US_ASCII));
        write(entry, "01 78 10"); // units of 1 and -8 bytes; register 16
        write(entry, data);
        write(entry, "0c 07 08 90 01"); // def_cfa rsp+8, offset r16
        append(0, entry.toByteArray());
        return this;
    }

    /** The form that gcc writes. */
    SmallUnwindTable common() {
        return common("zR", "01 1b");
    }

    /** A function with its instructions in hexadecimal. */
    SmallUnwindTable function(long address, int size, String instructions) {
        int at = bytes.size();
        ByteArrayOutputStream entry = new ByteArrayOutputStream();
        entry.writeBytes(number((int) (address - (START + at + 8))));
        entry.writeBytes(number(size));
        write(entry, "00"); // no augmentation data
        write(entry, instructions);
        append(at + 4 - common, entry.toByteArray());
        return this;
    }

    private void append(int id, byte[] entry) {
        int padding = -entry.length & 3;
        bytes.writeBytes(number(4 + entry.length + padding));
        bytes.writeBytes(number(id));
        bytes.writeBytes(entry);
        bytes.writeBytes(new byte[padding]); // nop
    }

    private static void write(ByteArrayOutputStream to, String hex) {
        to.writeBytes(HexFormat.of().parseHex(hex.replace(" ", "")));
    }

    private static byte[] number(int value) {
        return ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(value)
                .array();
    }

    /** The table with its end. */
    byte[] bytes() {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(bytes.toByteArray());
        all.writeBytes(number(0));
        return all.toByteArray();
    }
}
