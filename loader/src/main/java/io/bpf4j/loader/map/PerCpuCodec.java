package io.bpf4j.loader.map;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The values of all possible CPUs, one after the other, each rounded up to 8 bytes.
 *
 * <p>Tested by {@code KernelMapTest}.
 */
record PerCpuCodec<V>(Codec<V> values, int cpus) implements Codec<List<V>> {
    static <V> PerCpuCodec<V> of(BpfMap map, Codec<V> values) {
        return new PerCpuCodec<>(values, (int) (map.valueBytes() / stride(values)));
    }

    private static long stride(Codec<?> values) {
        return (values.size() + 7) / 8 * 8;
    }

    @Override
    public long size() {
        return stride(values) * cpus;
    }

    @Override
    public List<V> decode(MemorySegment source, long offset) {
        List<V> perCpu = new ArrayList<>(cpus);
        for (int cpu = 0; cpu < cpus; cpu++) {
            perCpu.add(values.decode(source, offset + cpu * stride(values)));
        }
        return perCpu;
    }

    @Override
    public void encode(List<V> perCpu, MemorySegment target, long offset) {
        if (perCpu.size() != cpus) {
            throw new IllegalArgumentException(
                    perCpu.size() + " values, but the map has one for each of " + cpus + " possible CPUs");
        }
        for (int cpu = 0; cpu < cpus; cpu++) {
            values.encode(perCpu.get(cpu), target, offset + cpu * stride(values));
        }
    }
}
