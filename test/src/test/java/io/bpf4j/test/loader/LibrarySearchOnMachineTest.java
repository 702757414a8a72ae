package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.link.LibrarySearch;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import org.junit.jupiter.api.Test;

/** The cache that ldconfig wrote on this machine, which alone knows libraries by the name that a linker is given. */
@Requires(Requirement.LD_CACHE)
class LibrarySearchOnMachineTest {
    @Test
    void theCacheKnowsTheLibraryOfC() {
        assertThat(LibrarySearch.ofThisMachine().find("c")).isRegularFile();
    }
}
