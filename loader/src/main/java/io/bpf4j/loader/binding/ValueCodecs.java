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
 * Codecs beyond those of {@link Codec}: floating-point numbers, arrays of numbers, lists, and types that wrap a value.
 * Arrays have a fixed number of elements; those of several dimensions are one array, the last index varying fastest.
 *
 * <p>Tested by {@code ValueCodecsTest}.
 */
public final class ValueCodecs {
    private static final Codec<Float> FLOAT = new Codec<>() {
        @Override
        public long size() {
            return Float.BYTES;
        }

        @Override
        public Float decode(MemorySegment source, long offset) {
            return source.get(ValueLayout.JAVA_FLOAT_UNALIGNED, offset);
        }

        @Override
        public void encode(Float value, MemorySegment target, long offset) {
            target.set(ValueLayout.JAVA_FLOAT_UNALIGNED, offset, value);
        }
    };

    private static final Codec<Double> DOUBLE = new Codec<>() {
        @Override
        public long size() {
            return Double.BYTES;
        }

        @Override
        public Double decode(MemorySegment source, long offset) {
            return source.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, offset);
        }

        @Override
        public void encode(Double value, MemorySegment target, long offset) {
            target.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, offset, value);
        }
    };

    private ValueCodecs() {}

    /** {@code float}: 4 bytes. */
    public static Codec<Float> ofFloat() {
        return FLOAT;
    }

    /** {@code double}: 8 bytes. */
    public static Codec<Double> ofDouble() {
        return DOUBLE;
    }

    /** {@code bool[count]}: 1 byte for each. */
    public static Codec<boolean[]> ofBooleans(int count) {
        return new Numbers<>(count, 1, boolean[]::new, a -> a.length) {
            @Override
            void read(MemorySegment source, long at, boolean[] array, int i) {
                array[i] = source.get(ValueLayout.JAVA_BYTE, at) != 0;
            }

            @Override
            void write(boolean[] array, int i, MemorySegment target, long at) {
                target.set(ValueLayout.JAVA_BYTE, at, (byte) (array[i] ? 1 : 0));
            }
        };
    }

    /** {@code __s16[count]}: 2 bytes for each. */
    public static Codec<short[]> ofShorts(int count) {
        return new Numbers<>(count, Short.BYTES, short[]::new, a -> a.length) {
            @Override
            void read(MemorySegment source, long at, short[] array, int i) {
                array[i] = source.get(ValueLayout.JAVA_SHORT_UNALIGNED, at);
            }

            @Override
            void write(short[] array, int i, MemorySegment target, long at) {
                target.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, array[i]);
            }
        };
    }

    /** {@code __u16[count]}: 2 bytes for each, from 0 to 65,535. */
    public static Codec<int[]> ofUnsignedShorts(int count) {
        return new Numbers<>(count, Short.BYTES, int[]::new, a -> a.length) {
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
        return new Numbers<>(count, Integer.BYTES, int[]::new, a -> a.length) {
            @Override
            void read(MemorySegment source, long at, int[] array, int i) {
                array[i] = source.get(ValueLayout.JAVA_INT_UNALIGNED, at);
            }

            @Override
            void write(int[] array, int i, MemorySegment target, long at) {
                target.set(ValueLayout.JAVA_INT_UNALIGNED, at, array[i]);
            }
        };
    }

    /** {@code __u32[count]}: 4 bytes for each, from 0 to 2^32 - 1. */
    public static Codec<long[]> ofUnsignedInts(int count) {
        return new Numbers<>(count, Integer.BYTES, long[]::new, a -> a.length) {
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
        return new Numbers<>(count, Long.BYTES, long[]::new, a -> a.length) {
            @Override
            void read(MemorySegment source, long at, long[] array, int i) {
                array[i] = source.get(ValueLayout.JAVA_LONG_UNALIGNED, at);
            }

            @Override
            void write(long[] array, int i, MemorySegment target, long at) {
                target.set(ValueLayout.JAVA_LONG_UNALIGNED, at, array[i]);
            }
        };
    }

    /** {@code float[count]}: 4 bytes for each. */
    public static Codec<float[]> ofFloats(int count) {
        return new Numbers<>(count, Float.BYTES, float[]::new, a -> a.length) {
            @Override
            void read(MemorySegment source, long at, float[] array, int i) {
                array[i] = source.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at);
            }

            @Override
            void write(float[] array, int i, MemorySegment target, long at) {
                target.set(ValueLayout.JAVA_FLOAT_UNALIGNED, at, array[i]);
            }
        };
    }

    /** {@code double[count]}: 8 bytes for each. */
    public static Codec<double[]> ofDoubles(int count) {
        return new Numbers<>(count, Double.BYTES, double[]::new, a -> a.length) {
            @Override
            void read(MemorySegment source, long at, double[] array, int i) {
                array[i] = source.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, at);
            }

            @Override
            void write(double[] array, int i, MemorySegment target, long at) {
                target.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, at, array[i]);
            }
        };
    }

    /** An array of structs, texts or enumerations, as an immutable list. */
    public static <T> Codec<List<T>> ofList(Codec<T> element, int count) {
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

    private static void checkCount(int actual, int expected) {
        if (actual != expected) {
            throw new IllegalArgumentException("the array has " + expected + " elements in C, not " + actual);
        }
    }

    /** An array of numbers of a primitive type. */
    private abstract static class Numbers<A> implements Codec<A> {
        private final int count;
        private final int bytes;
        private final IntFunction<A> make;
        private final ToIntFunction<A> length;

        Numbers(int count, int bytes, IntFunction<A> make, ToIntFunction<A> length) {
            this.count = count;
            this.bytes = bytes;
            this.make = make;
            this.length = length;
        }

        abstract void read(MemorySegment source, long at, A array, int index);

        abstract void write(A array, int index, MemorySegment target, long at);

        @Override
        public long size() {
            return (long) count * bytes;
        }

        @Override
        public A decode(MemorySegment source, long offset) {
            A array = make.apply(count);
            for (int i = 0; i < count; i++) {
                read(source, offset + (long) i * bytes, array, i);
            }
            return array;
        }

        @Override
        public void encode(A array, MemorySegment target, long offset) {
            checkCount(length.applyAsInt(array), count);
            for (int i = 0; i < count; i++) {
                write(array, i, target, offset + (long) i * bytes);
            }
        }
    }
}
