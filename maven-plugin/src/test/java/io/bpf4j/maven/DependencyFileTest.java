package io.bpf4j.maven;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DependencyFileTest {
    @Test
    void aRuleOfSeveralLines() {
        assertThat(DependencyFile.inputs("/t/gc.o: gc.bpf.c \\\n  include/gc.h \\\n  ../../../target/bpf4j/usdt.h\n"))
                .containsExactly("gc.bpf.c", "include/gc.h", "../../../target/bpf4j/usdt.h");
    }

    @Test
    void namesWithCharactersOfMake() {
        assertThat(DependencyFile.inputs("/a\\ b/gc.o: my\\ file.c c\\#.h 100$$.h C:\\x.h a:b\n"))
                .containsExactly("my file.c", "c#.h", "100$.h", "C:\\x.h", "a:b");
    }

    @Test
    void noRule() {
        assertThat(DependencyFile.inputs("")).isEmpty();
        assertThat(DependencyFile.inputs("gc.o")).isEmpty();
        assertThat(DependencyFile.inputs("gc.o:\n")).isEmpty();
    }
}
