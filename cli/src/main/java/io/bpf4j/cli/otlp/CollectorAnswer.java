package io.bpf4j.cli.otlp;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The body of a collector's response: a protobuf message, which is {@code ExportMetricsServiceResponse} of {@code
 * metrics_service.proto} if the collector accepted the push, and {@code google.rpc.Status} if not. Both have a few
 * fields, so they are read here, without a library. The body is untrusted. <i>Immutable.</i>
 *
 * <p>Tested by {@code CollectorAnswerTest} and {@code CollectorAnswerFuzzTest}.
 *
 * @param rejected the number of points that the collector rejected in a push that it accepted; not negative
 * @param message the message of the collector; empty if there is none
 */
record CollectorAnswer(long rejected, String message) {
    private static final CollectorAnswer NOTHING = new CollectorAnswer(0, "");

    // Wire types of protobuf.
    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int LENGTH = 2;
    private static final int FIXED32 = 5;

    /** A value of a field: a number, or the bytes from {@code start} to {@code end}. */
    private record Field(int number, int type, long value, int start, int end) {}

    /** Reads a message's fields one after the other. <i>Confined.</i> */
    private static final class Fields {
        private final byte[] bytes;
        private final int end;
        private int at;

        Fields(byte[] bytes, int start, int end) {
            this.bytes = bytes;
            this.at = start;
            this.end = end;
        }

        boolean hasNext() {
            return at < end;
        }

        /** The next field; empty if the following bytes are not a field. */
        Optional<Field> next() {
            long key = varint();
            int type = (int) (key & 7);
            long number = key >>> 3;
            if (at < 0 || number == 0 || number > Integer.MAX_VALUE) {
                return Optional.empty();
            }
            long value = 0;
            long length = 0;
            switch (type) {
                case VARINT -> value = varint();
                case FIXED64 -> length = Long.BYTES;
                case FIXED32 -> length = Integer.BYTES;
                case LENGTH -> length = varint();
                default -> length = -1;
            }
            if (at < 0 || length < 0 || length > end - at) {
                return Optional.empty();
            }
            Field field = new Field((int) number, type, value, at, at + (int) length);
            at += (int) length;
            return Optional.of(field);
        }

        /** A varint. {@link #at} is negative after one that has no end. */
        private long varint() {
            long value = 0;
            for (int shift = 0; shift < Long.SIZE && at >= 0 && at < end; shift += 7) {
                byte next = bytes[at++];
                value |= (next & 0x7fL) << shift;
                if (next >= 0) {
                    return value;
                }
            }
            at = -1;
            return 0;
        }
    }

    /** The response to an accepted push; empty if it is not such a message. */
    static Optional<CollectorAnswer> taken(byte[] body) {
        Fields fields = new Fields(body, 0, body.length);
        CollectorAnswer answer = NOTHING;
        while (fields.hasNext()) {
            Optional<Field> field = fields.next();
            if (field.isEmpty()) {
                return Optional.empty();
            }
            if (field.get().number() == 1 && field.get().type() == LENGTH) {
                Optional<CollectorAnswer> partial =
                        partial(body, field.get().start(), field.get().end());
                if (partial.isEmpty()) {
                    return Optional.empty();
                }
                answer = partial.get();
            }
        }
        return Optional.of(answer);
    }

    /** {@code ExportMetricsPartialSuccess}: rejected_data_points = 1, error_message = 2. */
    private static Optional<CollectorAnswer> partial(byte[] body, int start, int end) {
        Fields fields = new Fields(body, start, end);
        long rejected = 0;
        String message = "";
        while (fields.hasNext()) {
            Optional<Field> next = fields.next();
            if (next.isEmpty()) {
                return Optional.empty();
            }
            Field field = next.get();
            if (field.number() == 1 && field.type() == VARINT) {
                rejected = Math.max(0, field.value());
            } else if (field.number() == 2 && field.type() == LENGTH) {
                message = text(body, field.start(), field.end());
            }
        }
        return Optional.of(new CollectorAnswer(rejected, message));
    }

    /** The message of the response to a refused push: field 2 of {@code google.rpc.Status}. */
    static String refusal(byte[] body) {
        Fields fields = new Fields(body, 0, body.length);
        String message = "";
        while (fields.hasNext()) {
            Optional<Field> field = fields.next();
            if (field.isEmpty()) {
                return "";
            }
            if (field.get().number() == 2 && field.get().type() == LENGTH) {
                message = text(body, field.get().start(), field.get().end());
            }
        }
        return message;
    }

    private static String text(byte[] body, int start, int end) {
        return new String(body, start, end - start, StandardCharsets.UTF_8);
    }
}
