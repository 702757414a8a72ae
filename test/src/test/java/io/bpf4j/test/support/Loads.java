package io.bpf4j.test.support;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.objects.BpfObjects;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** Loading our objects, and reading what they wrote. */
public final class Loads {
    private Loads() {}

    /** The three ways to attach USDT probes, each forced by taking away what comes before it. */
    public enum Strategy {
        MULTI,
        COOKIE,
        IP_MAP;

        public Features features() {
            Features all = Features.ofRunningKernel();
            return switch (this) {
                case MULTI -> all;
                case COOKIE -> all.without(Feature.UPROBE_MULTI_LINK);
                case IP_MAP -> all.without(Feature.UPROBE_MULTI_LINK, Feature.BPF_COOKIE);
            };
        }
    }

    public static ObjectSpec spec(String object) {
        return ObjectSpec.parse(object, BpfObjects.bytes(object));
    }

    /** A loader of an object whose programs look at one process only. */
    public static BpfLoader of(String object, int pid) {
        return BpfLoader.of(spec(object)).global("target_tgid", pid);
    }

    public static BpfObject load(String object, int pid) {
        return of(object, pid).load();
    }

    /** The records that wait in a ring, copied. */
    public static List<ByteBuffer> records(RingBuffer ring) {
        List<ByteBuffer> records = new ArrayList<>();
        ring.consume(record -> records.add(
                ByteBuffer.wrap(record.toArray(ValueLayout.JAVA_BYTE)).order(ByteOrder.nativeOrder())));
        return records;
    }
}
