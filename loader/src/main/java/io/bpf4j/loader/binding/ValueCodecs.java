package io.bpf4j.loader.binding;

import io.bpf4j.loader.map.Codec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;

/**
 * Codecs beyond those of {@link Codec}: arrays of numbers, lists, and types that wrap a value. Arrays have a fixed number
 * of elements, which is refused if it is negative; those of several dimensions are one array, the last index varying
 * fastest.
 *
 * <p>Tested by {@code ValueCodecsTest}.
 */
public final class ValueCodecs {
    private ValueCodecs() {}

    /** {@code bool[count]}: 1 byte for each. */
    public static Codec<boolean[]> ofBooleans(int count) {
        return new Elements<>(count, Codec.ofBoolean().size(), boolean[]::new, a -> a.length) {
            @Override
            void read(MemorySegment source, long at, boolean[] array, int i) {
                array[i] = Codec.ofBoolean().decode(source, at);
            }

            @Override
            void write(boolean[] array, int i, MemorySegment target, long at) {
                Codec.ofBoolean().encode(array[i], target, at);
            }
        };
    }

    /** {@code __s16[count]}: 2 bytes for each. */
    public static Codec<short[]> ofShorts(int count) {
        return new Numbers<>(count, ValueLayout.JAVA_SHORT_UNALIGNED, short[]::new, a -> a.length);
    }

    /** {@code __u16[count]}: 2 bytes for each, from 0 to 65,535. */
    public static Codec<int[]> ofUnsignedShorts(int count) {
        return new Elements<>(count, Codec.ofUnsignedShort().size(), int[]::new, a -> a.length) {
            @Override
            void read(MemorySegment source, long at, int[] array, int i) {
                array[i] = Codec.ofUnsignedShort().decode(source, at);
            }

            @Override
            void write(int[] array, int i, MemorySegment target, long at) {
                Codec.ofUnsignedShort().encode(array[i], target, at);
            }
        };
    }

    /** {@code __s32[count]}: 4 bytes for each. */
    public static Codec<int[]> ofInts(int count) {
        return new Numbers<>(count, ValueLayout.JAVA_INT_UNALIGNED, int[]::new, a -> a.length);
    }

    /** {@code __u32[count]}: 4 bytes for each, from 0 to 2^32 - 1. */
    public static Codec<long[]> ofUnsignedInts(int count) {
        return new Elements<>(count, Codec.ofUnsignedInt().size(), long[]::new, a -> a.length) {
            @Override
            void read(MemorySegment source, long at, long[] array, int i) {
                array[i] = Codec.ofUnsignedInt().decode(source, at);
            }

            @Override
            void write(long[] array, int i, MemorySegment target, long at) {
                Codec.ofUnsignedInt().encode(array[i], target, at);
            }
        };
    }

    /** {@code __s64[count]} or {@code __u64[count]}: 8 bytes for each. */
    public static Codec<long[]> ofLongs(int count) {
        return new Numbers<>(count, ValueLayout.JAVA_LONG_UNALIGNED, long[]::new, a -> a.length);
    }

    /** {@code float[count]}: 4 bytes for each. */
    public static Codec<float[]> ofFloats(int count) {
        return new Numbers<>(count, ValueLayout.JAVA_FLOAT_UNALIGNED, float[]::new, a -> a.length);
    }

    /** {@code double[count]}: 8 bytes for each. */
    public static Codec<double[]> ofDoubles(int count) {
        return new Numbers<>(count, ValueLayout.JAVA_DOUBLE_UNALIGNED, double[]::new, a -> a.length);
    }

    /** An array of structs, texts or enumerations, as an immutable list. */
    public static <T> Codec<List<T>> ofList(Codec<T> element, int count) {
        requireCount(count);
        return new Codec<>() {
            @Override
            public long size() {
                return element.size() * count;
            }

            @Override
            public List<T> decode(MemorySegment source, long offset) {
                List<T> list = new ArrayList<>(count);
                for (int i = 0; i < count; i++) {
                    list.add(element.decode(source, offset + i * element.size()));
                }
                return List.copyOf(list);
            }

            @Override
            public void encode(List<T> list, MemorySegment target, long offset) {
                checkCount(list.size(), count);
                long at = offset;
                for (T each : list) {
                    element.encode(each, target, at);
                    at += element.size();
                }
            }
        };
    }

    /** A type that wraps a value, such as an enumeration that wraps its number. */
    public static <A, B> Codec<B> wrapped(Codec<A> inner, Function<A, B> wrap, Function<B, A> unwrap) {
        return new Codec<>() {
            @Override
            public long size() {
                return inner.size();
            }

            @Override
            public B decode(MemorySegment source, long offset) {
                return wrap.apply(inner.decode(source, offset));
            }

            @Override
            public void encode(B value, MemorySegment target, long offset) {
                inner.encode(unwrap.apply(value), target, offset);
            }
        };
    }

    private static int requireCount(int count) {
        if (count < 0) {
            throw new IllegalArgumentException("an array can't have " + count + " elements");
        }
        return count;
    }

    private static void checkCount(int actual, int expected) {
        if (actual != expected) {
            throw new IllegalArgumentException("the array has " + expected + " elements in C, not " + actual);
        }
    }

    /** An array of numbers whose bytes are the same in C and in Java. */
    private record Numbers<A>(int count, ValueLayout element, IntFunction<A> make, ToIntFunction<A> length)
            implements Codec<A> {
        Numbers {
            requireCount(count);
        }

        @Override
        public long size() {
            return count * element.byteSize();
        }

        @Override
        public A decode(MemorySegment source, long offset) {
            A array = make.apply(count);
            MemorySegment.copy(source, element, offset, array, 0, count);
            return array;
        }

        @Override
        public void encode(A array, MemorySegment target, long offset) {
            checkCount(length.applyAsInt(array), count);
            MemorySegment.copy(array, 0, target, element, offset, count);
        }
    }

    /** An array whose elements are converted one by one. */
    private abstract static class Elements<A> implements Codec<A> {
        private final int count;
        private final long bytes;
        private final IntFunction<A> make;
        private final ToIntFunction<A> length;

        Elements(int count, long bytes, IntFunction<A> make, ToIntFunction<A> length) {
            this.count = requireCount(count);
            this.bytes = bytes;
            this.make = make;
            this.length = length;
        }

        abstract void read(MemorySegment source, long at, A array, int index);

        abstract void write(A array, int index, MemorySegment target, long at);

        @Override
        public long size() {
            return count * bytes;
        }

        @Override
        public A decode(MemorySegment source, long offset) {
            A array = make.apply(count);
            for (int i = 0; i < count; i++) {
                read(source, offset + i * bytes, array, i);
            }
            return array;
        }

        @Override
        public void encode(A array, MemorySegment target, long offset) {
            checkCount(length.applyAsInt(array), count);
            for (int i = 0; i < count; i++) {
                write(array, i, target, offset + i * bytes);
            }
        }
    }
}
