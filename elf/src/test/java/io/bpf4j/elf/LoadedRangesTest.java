package io.bpf4j.elf;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The first segment of the table that holds an address, compared with a search of the whole table. */
class LoadedRangesTest {
    private static Segment segment(int index, int type, long address, long size) {
        return new Segment(index, type, Segment.PF_R, 0, address, address, size, size, 1);
    }

    private static @Nullable Segment first(List<Segment> segments, long address) {
        return segments.stream()
                .filter(s -> s.type() == Segment.PT_LOAD && s.contains(address))
                .findFirst()
                .orElse(null);
    }

    @Test
    void noSegments() {
        assertThat(new LoadedRanges(List.of()).at(0)).isNull();
        assertThat(new LoadedRanges(List.of(segment(0, Segment.PT_NOTE, 0, 9))).at(0))
                .isNull();
        assertThat(new LoadedRanges(List.of(segment(0, Segment.PT_LOAD, 0, 0))).at(0))
                .isNull();
    }

    @Test
    void theEndOfTheAddressSpace() {
        Segment last = segment(0, Segment.PT_LOAD, -16, 32);
        LoadedRanges ranges = new LoadedRanges(List.of(last));
        assertThat(ranges.at(-1)).isSameAs(last);
        assertThat(ranges.at(-16)).isSameAs(last);
        assertThat(ranges.at(-17)).isNull();
        assertThat(ranges.at(0)).isNull();
        assertThat(ranges.at(15)).isNull();
        Segment everything = segment(0, Segment.PT_LOAD, 0, -1);
        ranges = new LoadedRanges(List.of(everything));
        assertThat(ranges.at(Long.MIN_VALUE)).isSameAs(everything);
        assertThat(ranges.at(-1)).isNull();
    }

    @Test
    void segmentsThatOverlap() {
        Random random = new Random(4711);
        for (int round = 0; round < 500; round++) {
            List<Segment> segments = new ArrayList<>();
            int count = random.nextInt(12);
            for (int i = 0; i < count; i++) {
                int type = random.nextInt(5) == 0 ? Segment.PT_NOTE : Segment.PT_LOAD;
                segments.add(segment(i, type, random.nextInt(-20, 40), random.nextInt(30)));
            }
            LoadedRanges ranges = new LoadedRanges(segments);
            for (long address = -25; address < 80; address++) {
                assertThat(ranges.at(address)).as("%s in %s", address, segments).isSameAs(first(segments, address));
            }
        }
    }
}
