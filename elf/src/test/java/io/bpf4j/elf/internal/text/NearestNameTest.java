package io.bpf4j.elf.internal.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class NearestNameTest {
    @Test
    void theFirstOfEquallyNearNamesIsKept() {
        assertThat(NearestName.of("map9", List.of("counts", "map1", "map2"))).contains("map1");
        assertThat(NearestName.of("map9", List.of())).isEmpty();
    }

    @Test
    void ofManyNamesOneThatDiffersInMostCharactersIsNotNear() {
        NearestName nearest = new NearestName("nosuchfn");
        nearest.offer("lockf");
        assertThat(nearest.found()).isEmpty();
        nearest.offer("no_such");
        assertThat(nearest.found()).contains("no_such");
        NearestName ofLong = new NearestName("a".repeat(300));
        ofLong.offer("z".repeat(95));
        assertThat(ofLong.found()).isEmpty();
    }

    @Test
    void distancesAreEditDistances() {
        assertThat(NearestName.distance("kitten", "sitting", 9)).isEqualTo(3);
        assertThat(NearestName.distance("", "abc", 9)).isEqualTo(3);
        assertThat(NearestName.distance("abc", "abc", 9)).isZero();
        for (int limit = 0; limit < 9; limit++) {
            assertThat(NearestName.distance("kitten", "sitting", limit)).isEqualTo(Math.min(3, limit));
            assertThat(NearestName.distance("k", "sitting", limit)).isEqualTo(Math.min(7, limit));
        }
    }
}
