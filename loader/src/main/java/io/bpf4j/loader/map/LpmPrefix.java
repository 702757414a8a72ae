package io.bpf4j.loader.map;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * A key of an LPM trie: the first bits of some data, such as {@code 10.0.0.0/8}. A lookup with all bits of an address
 * finds the element with the longest matching prefix. <i>Immutable.</i>
 *
 * <p>In C, {@code struct bpf_lpm_trie_key_u8}: {@code __u32 prefixlen} in the machine's order, then the data, 1 to 256
 * bytes with the most significant first. Tries need Linux 4.11 and the flag {@code BPF_F_NO_PREALLOC}; walking one
 * needs 4.16.
 *
 * <pre>{@code
 * TypedMap<LpmPrefix, Integer> routes = TypedMap.of(map, LpmPrefix.codec(4), Codec.ofInt());
 * routes.put(LpmPrefix.parse("10.0.0.0/8"), 1);
 * routes.get(LpmPrefix.of(InetAddress.ofLiteral("10.1.2.3")));   // 1
 * }</pre>
 *
 * <p>Tested by {@code MapViewsTest} and {@code MapKindsOnKernelTest}.
 */
public final class LpmPrefix {
    private final int length;
    private final byte[] data;

    private LpmPrefix(int length, byte[] data) {
        this.length = length;
        this.data = data;
    }

    /**
     * A prefix; bits after it become 0.
     *
     * @param length prefix length in bits
     * @throws IllegalArgumentException if the data has fewer bits
     */
    public static LpmPrefix of(int length, byte... data) {
        if (length < 0 || length > data.length * 8) {
            throw new IllegalArgumentException("a prefix of " + length + " bits of " + data.length + " bytes");
        }
        byte[] own = data.clone();
        for (int i = length / 8; i < own.length; i++) {
            int kept = Math.max(0, length - i * 8);
            own[i] &= (byte) (0xff00 >> kept);
        }
        return new LpmPrefix(length, own);
    }

    /** A prefix of an address of 4 or 16 bytes. */
    public static LpmPrefix of(InetAddress address, int length) {
        return of(length, address.getAddress());
    }

    /** All bits of an address, for a lookup. */
    public static LpmPrefix of(InetAddress address) {
        byte[] data = address.getAddress();
        return of(data.length * 8, data);
    }

    /**
     * Reads a network such as {@code 10.0.0.0/8} or {@code fe80::/10}, or an address. Host names are not resolved. A
     * text with a colon gives 16 bytes, also for an IPv4-mapped address such as {@code ::ffff:10.0.0.1}.
     *
     * @throws IllegalArgumentException if it is neither
     */
    public static LpmPrefix parse(String text) {
        int slash = text.indexOf('/');
        if (slash < 0) {
            byte[] address = bytes(text);
            return of(address.length * 8, address);
        }
        String digits = text.substring(slash + 1);
        if (!digits.matches("\\d{1,3}")) {
            throw new IllegalArgumentException("not a network: \"" + text + "\"");
        }
        return of(Integer.parseInt(digits), bytes(text.substring(0, slash)));
    }

    /** The address as it is written: Java turns {@code ::ffff:10.0.0.1} into an IPv4 address. */
    private static byte[] bytes(String literal) {
        byte[] address = InetAddress.ofLiteral(literal).getAddress();
        if (address.length != 4 || literal.indexOf(':') < 0) {
            return address;
        }
        byte[] mapped = new byte[16];
        mapped[10] = (byte) 0xff;
        mapped[11] = (byte) 0xff;
        System.arraycopy(address, 0, mapped, 12, 4);
        return mapped;
    }

    /** The codec of keys with this many bytes of data: 4 for IPv4, 16 for IPv6. */
    public static Codec<LpmPrefix> codec(int dataBytes) {
        return new KeyCodec(dataBytes);
    }

    /** The prefix length in bits. */
    public int length() {
        return length;
    }

    /** The data; bits after the prefix are 0. */
    public byte[] data() {
        return data.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LpmPrefix that && length == that.length && Arrays.equals(data, that.data);
    }

    @Override
    public int hashCode() {
        return 31 * length + Arrays.hashCode(data);
    }

    /** {@code 10.0.0.0/8} if the data is as long as an address, else hexadecimal. */
    @Override
    public String toString() {
        String text = HexFormat.of().formatHex(data);
        if (data.length == 4 || data.length == 16) {
            try {
                text = InetAddress.getByAddress(data).getHostAddress();
            } catch (UnknownHostException e) {
                throw new AssertionError("4 and 16 bytes are addresses", e);
            }
        }
        return text + "/" + length;
    }

    private record KeyCodec(int dataBytes) implements Codec<LpmPrefix> {
        private static final int MAX_DATA = 256; // LPM_DATA_SIZE_MAX in kernel/bpf/lpm_trie.c

        KeyCodec {
            if (dataBytes < 1 || dataBytes > MAX_DATA) {
                throw new IllegalArgumentException("a trie of keys with " + dataBytes + " bytes of data");
            }
        }

        @Override
        public long size() {
            return Integer.BYTES + (long) dataBytes;
        }

        @Override
        public LpmPrefix decode(MemorySegment source, long offset) {
            byte[] data = new byte[dataBytes];
            MemorySegment.copy(source, ValueLayout.JAVA_BYTE, offset + Integer.BYTES, data, 0, dataBytes);
            return of(source.get(ValueLayout.JAVA_INT_UNALIGNED, offset), data);
        }

        @Override
        public void encode(LpmPrefix value, MemorySegment target, long offset) {
            if (value.data.length != dataBytes) {
                throw new IllegalArgumentException(
                        value + " has " + value.data.length + " bytes, and keys of the trie " + dataBytes);
            }
            target.set(ValueLayout.JAVA_INT_UNALIGNED, offset, value.length);
            MemorySegment.copy(value.data, 0, target, ValueLayout.JAVA_BYTE, offset + Integer.BYTES, value.data.length);
        }
    }
}
