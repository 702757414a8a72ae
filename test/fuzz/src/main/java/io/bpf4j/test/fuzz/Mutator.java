package io.bpf4j.test.fuzz;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Random;

/** Changes inputs at random. The same random numbers make the same changes. <i>Confined.</i> */
final class Mutator {
    private static final long[] EDGES = {
        0,
        1,
        2,
        3,
        4,
        7,
        8,
        15,
        16,
        31,
        32,
        63,
        64,
        100,
        127,
        128,
        255,
        256,
        511,
        512,
        1000,
        1023,
        1024,
        4095,
        4096,
        32767,
        32768,
        65535,
        65536,
        0x7fff_ffffL,
        0x8000_0000L,
        0xffff_fff0L,
        0xffff_ffffL,
        0x1_0000_0000L,
        Long.MAX_VALUE,
        Long.MIN_VALUE,
        -1,
        -2,
        -8,
        -16,
        -128
    };

    private final Random random;
    private final int maxLength;
    private final List<byte[]> words = new ArrayList<>();
    private long[] numbers = EDGES;

    Mutator(Random random, int maxLength) {
        this.random = random;
        this.maxLength = maxLength;
    }

    /** Adds what the inputs may consist of. */
    void addWords(Collection<byte[]> more) {
        words.addAll(more);
    }

    /** Adds numbers that a parser may look for. */
    void addNumbers(Collection<Long> more) {
        long[] all = Arrays.copyOf(numbers, numbers.length + more.size());
        int at = numbers.length;
        for (long number : more) {
            all[at++] = number;
        }
        numbers = all;
    }

    /** A changed copy of an input. Parts of another one may get into it. */
    byte[] mutate(byte[] input, byte[] other) {
        byte[] result = input;
        int changes = 1 << random.nextInt(5);
        for (int i = random.nextInt(changes) + 1; i > 0; i--) {
            result = change(result, other);
        }
        return result.length <= maxLength ? result : Arrays.copyOf(result, maxLength);
    }

    private byte[] change(byte[] input, byte[] other) {
        if (input.length == 0) {
            return words.isEmpty() || random.nextBoolean() ? new byte[] {(byte) random.nextInt()} : word();
        }
        return switch (random.nextInt(16)) {
            case 0, 1 -> flipped(input);
            case 2 -> with(input, at(input), (byte) random.nextInt());
            case 3, 4 -> withNumber(input, numbers[random.nextInt(numbers.length)]);
            case 5 -> withNumber(input, random.nextInt(64));
            case 6 -> withSum(input);
            case 7 -> withLength(input);
            case 8 -> without(input);
            case 9 -> inserted(input, at(input), part(input));
            case 10 -> over(input, at(input), part(input));
            case 11 -> words.isEmpty() ? flipped(input) : inserted(input, random.nextInt(input.length + 1), word());
            case 12 -> words.isEmpty() ? flipped(input) : over(input, at(input), word());
            case 13 -> other.length == 0 ? flipped(input) : inserted(input, at(input), part(other));
            case 14 -> other.length == 0 ? flipped(input) : over(input, at(input), part(other));
            default -> withDecimal(input);
        };
    }

    private byte[] word() {
        return words.get(random.nextInt(words.size()));
    }

    private int at(byte[] input) {
        return random.nextInt(input.length);
    }

    private static byte[] with(byte[] input, int at, byte value) {
        byte[] result = input.clone();
        result[at] = value;
        return result;
    }

    private byte[] flipped(byte[] input) {
        int at = at(input);
        return with(input, at, (byte) (input[at] ^ (1 << random.nextInt(8))));
    }

    /** Another number of 1, 2, 4 or 8 bytes, in either byte order, mostly where its size divides the place. */
    private byte[] withNumber(byte[] input, long number) {
        int size = 1 << random.nextInt(4);
        if (size > input.length) {
            return with(input, at(input), (byte) number);
        }
        int at = random.nextInt(input.length - size + 1);
        if (random.nextInt(4) != 0) {
            at -= at % size;
        }
        byte[] result = input.clone();
        put(order(result), at, size, number);
        return result;
    }

    private ByteBuffer order(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(random.nextInt(4) == 0 ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    }

    private static void put(ByteBuffer bytes, int at, int size, long number) {
        switch (size) {
            case 1 -> bytes.put(at, (byte) number);
            case 2 -> bytes.putShort(at, (short) number);
            case 4 -> bytes.putInt(at, (int) number);
            default -> bytes.putLong(at, number);
        }
    }

    private byte[] withSum(byte[] input) {
        if (input.length < 4) {
            return flipped(input);
        }
        byte[] result = input.clone();
        ByteBuffer bytes = order(result);
        int at = random.nextInt(input.length - 3) & -2;
        int more = random.nextInt(1, 36) * (random.nextBoolean() ? 1 : -1);
        if (random.nextBoolean()) {
            bytes.putInt(at, bytes.getInt(at) + more);
        } else {
            bytes.putShort(at, (short) (bytes.getShort(at) + more));
        }
        return result;
    }

    /** A number near the length of the whole, or of the rest. */
    private byte[] withLength(byte[] input) {
        return withNumber(input, input.length - (random.nextBoolean() ? 0 : at(input)) + random.nextInt(3) - 1L);
    }

    private byte[] part(byte[] of) {
        int length = 1 + random.nextInt(Math.min(of.length, random.nextInt(4) == 0 ? 512 : 24));
        int from = random.nextInt(of.length - length + 1);
        return Arrays.copyOfRange(of, from, from + length);
    }

    private byte[] without(byte[] input) {
        int length = 1 + random.nextInt(Math.min(input.length, random.nextInt(4) == 0 ? 512 : 24));
        int from = random.nextInt(input.length - length + 1);
        byte[] result = new byte[input.length - length];
        System.arraycopy(input, 0, result, 0, from);
        System.arraycopy(input, from + length, result, from, result.length - from);
        return result;
    }

    private byte[] inserted(byte[] input, int at, byte[] part) {
        if (input.length + part.length > maxLength) {
            return over(input, Math.min(at, input.length - 1), part);
        }
        byte[] result = new byte[input.length + part.length];
        System.arraycopy(input, 0, result, 0, at);
        System.arraycopy(part, 0, result, at, part.length);
        System.arraycopy(input, at, result, at + part.length, input.length - at);
        return result;
    }

    private static byte[] over(byte[] input, int at, byte[] part) {
        byte[] result = input.clone();
        System.arraycopy(part, 0, result, at, Math.min(part.length, result.length - at));
        return result;
    }

    /** Another decimal number in a text. */
    private byte[] withDecimal(byte[] input) {
        int start = at(input);
        for (int i = 0; i < input.length && !isDigit(input[start]); i++) {
            start = (start + 1) % input.length;
        }
        int end = start;
        while (end < input.length && isDigit(input[end])) {
            end++;
        }
        if (start == end) {
            return flipped(input);
        }
        byte[] number = Long.toString(numbers[random.nextInt(numbers.length)]).getBytes(StandardCharsets.US_ASCII);
        byte[] result = new byte[input.length - (end - start) + number.length];
        System.arraycopy(input, 0, result, 0, start);
        System.arraycopy(number, 0, result, start, number.length);
        System.arraycopy(input, end, result, start + number.length, input.length - end);
        return result;
    }

    private static boolean isDigit(byte b) {
        return b >= '0' && b <= '9';
    }
}
