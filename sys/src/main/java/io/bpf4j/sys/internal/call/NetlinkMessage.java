package io.bpf4j.sys.internal.call;

import io.bpf4j.elf.internal.text.CString;
import io.bpf4j.sys.BpfException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Messages of netlink, the kernel's protocol for the configuration of the network (RFC 3549; include/uapi/linux/netlink.h).
 *
 * <p>A datagram holds one message or several. Each has a header of 16 bytes: its length with the header, its type, flags,
 * a sequence number that the answers repeat, and the sender. Then comes a struct that depends on the type, and then
 * attributes: a length of 2 bytes with this header, a type of 2 bytes, and the value. Messages and attributes start at
 * multiples of 4 bytes, and the lengths do not count the padding. The value of an attribute may be attributes again. All
 * numbers are in the machine's byte order.
 *
 * <p>Every length is compared with the space that is left before it is used.
 *
 * <p>Tested by {@code NetlinkMessageTest}.
 *
 * @param type the kind of the request or answer
 * @param flags NLM_F_*
 * @param sequence of the request; the answers have the same
 * @param body the struct and the attributes
 */
public record NetlinkMessage(int type, int flags, int sequence, MemorySegment body) {
    private static final StructLayout HEADER =
            StructLayout.of("nlmsghdr", "u32 nlmsg_len; u16 nlmsg_type, nlmsg_flags; u32 nlmsg_seq, nlmsg_pid");

    private static final StructLayout ATTRIBUTE = StructLayout.of("nlattr", "u16 nla_len, nla_type");
    private static final int HEADER_SIZE = 16;
    private static final int ATTRIBUTE_SIZE = 4;

    /** NLA_TYPE_MASK: without the flags for nested attributes and for network byte order. */
    private static final int TYPE_MASK = 0x3fff;

    private static final int NESTED = 1 << 15;

    /** NLM_F_*: the flags of a request. */
    public static final int REQUEST = 1;

    public static final int ACK = 1 << 2;
    public static final int ECHO = 1 << 3;
    public static final int REPLACE = 1 << 8;
    public static final int EXCLUSIVE = 1 << 9;
    public static final int CREATE = 1 << 10;

    /** All objects that match: NLM_F_ROOT and NLM_F_MATCH. */
    public static final int DUMP = 0x300;

    /** Of an answer: the objects changed while they were listed, so some may be missing or twice. */
    private static final int INTERRUPTED = 1 << 4;

    /** Of an answer with an error: the request is not repeated in it, and attributes follow that explain the error. */
    private static final int CAPPED = 1 << 8;

    private static final int EXPLAINED = 1 << 9;

    /** Types of answers that all requests have. */
    static final int NOOP = 1;

    static final int ERROR = 2;
    static final int DONE = 3;
    static final int OVERRUN = 4;

    /** The attribute of an error with the kernel's reason: NLMSGERR_ATTR_MSG. */
    private static final int REASON = 1;

    /**
     * A request.
     *
     * @param struct the layout of the struct after the header, which has no padding at its end
     * @param values of its first fields
     * @param attributes writes them
     */
    public static NetlinkMessage request(
            int type, int flags, StructLayout struct, long[] values, Consumer<Attributes> attributes) {
        MemorySegment fixed = MemorySegment.ofArray(new byte[padded((int) struct.end())]);
        struct.setAll(fixed, values);
        Attributes all = new Attributes();
        attributes.accept(all);
        byte[] rest = all.bytes();
        MemorySegment body = MemorySegment.ofArray(new byte[(int) fixed.byteSize() + rest.length]);
        body.copyFrom(fixed);
        MemorySegment.copy(rest, 0, body, ValueLayout.JAVA_BYTE, fixed.byteSize(), rest.length);
        return new NetlinkMessage(type, REQUEST | ACK | flags, 0, body);
    }

    /** The attributes of a request, in the order in which they are added. <i>Confined.</i> */
    public static final class Attributes {
        private final List<byte[]> parts = new ArrayList<>();

        public void u32(int type, int value) {
            add(type, Struct.ints(value));
        }

        /** With a NUL at its end. */
        public void text(int type, String value) {
            byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
            add(type, Arrays.copyOf(bytes, bytes.length + 1));
        }

        public void nested(int type, Consumer<Attributes> attributes) {
            Attributes inner = new Attributes();
            attributes.accept(inner);
            add(type | NESTED, inner.bytes());
        }

        private void add(int type, byte[] value) {
            byte[] attribute = new byte[padded(ATTRIBUTE_SIZE + value.length)];
            MemorySegment segment = MemorySegment.ofArray(attribute);
            ATTRIBUTE.setAll(segment, ATTRIBUTE_SIZE + value.length, type);
            System.arraycopy(value, 0, attribute, ATTRIBUTE_SIZE, value.length);
            parts.add(attribute);
        }

        private byte[] bytes() {
            ByteBuffer all = ByteBuffer.allocate(
                    parts.stream().mapToInt(part -> part.length).sum());
            parts.forEach(all::put);
            return all.array();
        }
    }

    /** The datagram that has this message alone. */
    byte[] datagram(int sequenceNumber) {
        byte[] bytes = new byte[HEADER_SIZE + (int) body.byteSize()];
        MemorySegment segment = MemorySegment.ofArray(bytes);
        HEADER.setAll(segment, bytes.length, type, flags, sequenceNumber);
        MemorySegment.copy(body, 0, segment, HEADER_SIZE, body.byteSize());
        return bytes;
    }

    /**
     * The messages of a datagram.
     *
     * @throws BpfException if a length does not fit
     */
    static List<NetlinkMessage> in(MemorySegment datagram) {
        List<NetlinkMessage> messages = new ArrayList<>();
        long at = 0;
        while (at < datagram.byteSize()) {
            long left = datagram.byteSize() - at;
            if (left < HEADER_SIZE) {
                throw malformed("a message of " + left + " bytes has no room for its header");
            }
            MemorySegment rest = datagram.asSlice(at);
            long length = Integer.toUnsignedLong(HEADER.u32(rest, "nlmsg_len"));
            if (length < HEADER_SIZE || length > left) {
                throw malformed("a message of " + length + " bytes, but only " + left + " remain");
            }
            messages.add(new NetlinkMessage(
                    HEADER.u16(rest, "nlmsg_type"),
                    HEADER.u16(rest, "nlmsg_flags"),
                    HEADER.u32(rest, "nlmsg_seq"),
                    copy(rest.asSlice(HEADER_SIZE, length - HEADER_SIZE))));
            at += padded((int) length);
        }
        return messages;
    }

    /** The datagram's memory is used again for the next one. */
    private static MemorySegment copy(MemorySegment segment) {
        return MemorySegment.ofArray(segment.toArray(ValueLayout.JAVA_BYTE));
    }

    /**
     * The attributes after the struct, by their types; of several of one type the last.
     *
     * @throws BpfException if a length does not fit
     */
    public Map<Integer, MemorySegment> attributes(StructLayout struct) {
        long start = padded((int) struct.end());
        return start > body.byteSize() ? Map.of() : attributes(body.asSlice(start));
    }

    /** The attributes in an attribute, as {@link #attributes(StructLayout)}. */
    public static Map<Integer, MemorySegment> attributes(MemorySegment nest) {
        Map<Integer, MemorySegment> attributes = new HashMap<>();
        long at = 0;
        while (nest.byteSize() - at >= ATTRIBUTE_SIZE) {
            long left = nest.byteSize() - at;
            MemorySegment rest = nest.asSlice(at);
            int length = ATTRIBUTE.u16(rest, "nla_len");
            if (length < ATTRIBUTE_SIZE || length > left) {
                throw malformed("an attribute of " + length + " bytes, but only " + left + " remain");
            }
            attributes.put(
                    ATTRIBUTE.u16(rest, "nla_type") & TYPE_MASK, rest.asSlice(ATTRIBUTE_SIZE, length - ATTRIBUTE_SIZE));
            at += padded(length);
        }
        return attributes;
    }

    /** The number in an attribute, from its first 4 bytes or its only one; 0 if there is no such attribute. */
    public static int number(Map<Integer, MemorySegment> attributes, int type) {
        MemorySegment value = attributes.getOrDefault(type, MemorySegment.NULL);
        return value.byteSize() >= Integer.BYTES
                ? value.get(ValueLayout.JAVA_INT_UNALIGNED, 0)
                : value.byteSize() == 1 ? Byte.toUnsignedInt(value.get(ValueLayout.JAVA_BYTE, 0)) : 0;
    }

    /** The text in an attribute, up to a NUL or its end; empty if there is no such attribute. */
    public static String text(Map<Integer, MemorySegment> attributes, int type) {
        return CString.of(attributes.getOrDefault(type, MemorySegment.NULL));
    }

    /** Whether the body is long enough for a struct. */
    public boolean has(StructLayout struct) {
        return body.byteSize() >= struct.end();
    }

    boolean isInterrupted() {
        return (flags & INTERRUPTED) != 0;
    }

    /**
     * The positive error number that an {@link #ERROR} or the end of a list has; 0 for success.
     *
     * @throws BpfException if an error has no number
     */
    int errno() {
        if (body.byteSize() >= Integer.BYTES) {
            return -body.get(ValueLayout.JAVA_INT_UNALIGNED, 0);
        }
        if (type == ERROR) {
            throw malformed("an error has no number, but " + body.byteSize() + " bytes");
        }
        return 0;
    }

    /** The kernel's reason for an error (Linux 4.12), which may come from a driver; empty for none. */
    String reason() {
        if ((flags & EXPLAINED) == 0 || body.byteSize() < Integer.BYTES + HEADER_SIZE) {
            return "";
        }
        // The header of the request follows the number, and unless the answer is capped its body, too.
        long skipped = (flags & CAPPED) != 0
                ? HEADER_SIZE
                : Math.max(HEADER_SIZE, Integer.toUnsignedLong(HEADER.u32(body.asSlice(Integer.BYTES), "nlmsg_len")));
        long start = Integer.BYTES + (skipped + 3) / 4 * 4;
        return start > body.byteSize() ? "" : text(attributes(body.asSlice(start)), REASON);
    }

    private static int padded(int length) {
        return (length + 3) & ~3;
    }

    private static BpfException malformed(String problem) {
        return new BpfException("a netlink response can't be read: " + problem);
    }
}
