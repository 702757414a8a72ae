package io.bpf4j.trace.stack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class StackCountsTest {
    private final StackCounts stacks = StackCounts.create();

    @Test
    void equalStacksAreOneLine() throws IOException {
        stacks.add("app", List.of(user("bar"), user("foo"), user("main")), List.of(), 10);
        stacks.add("app", List.of(user("foo"), user("main")), List.of(), 1);
        stacks.add("app", List.of(user("bar"), user("foo"), user("main")), List.of(), 2);
        assertThat(folded()).isEqualTo("app;main;foo 1\napp;main;foo;bar 12\n");
        assertThat(stacks.total()).isEqualTo(13);
    }

    @Test
    void kernelFramesAreAboveUserFrames() throws IOException {
        Frame kernel = new Frame(-1, "vfs_read", "vfs_read", 0, "", Frame.Source.KERNEL);
        Frame module = new Frame(-1, "ext4_read", "ext4_read", 0, "ext4", Frame.Source.KERNEL);
        Frame compiled = new Frame(1, "void Foo.run()", "void Foo.run()", 0, "[jit]", Frame.Source.PERF_MAP);
        stacks.add("", List.of(user("read"), compiled), List.of(module, kernel), 3);
        assertThat(folded()).isEqualTo("void Foo.run()_[j];read;vfs_read_[k];ext4_read [ext4]_[k] 3\n");
    }

    @Test
    void aNameCanNotForgeALine() throws IOException {
        stacks.add("a;b\\", List.of(user("x\ny 7\r\t\u0000"), user("\u202egnp\ud800"), user("gödel 🙂")), List.of(), 1);
        assertThat(folded()).isEqualTo("a\\x3bb\\x5c;gödel 🙂;\\u{202e}gnp\\u{d800};x\\x0ay 7\\x0d\\x09\\x00 1\n");
    }

    @Test
    void aByteThatIsNotUtf8IsShownAsOne() throws IOException {
        stacks.add("na\udcffme", List.of(user("\udc80\udc41")), List.of(), 1);
        assertThat(folded()).isEqualTo("na\\xffme;\\x80\\u{dc41} 1\n");
    }

    @Test
    void framesWithoutNamesHaveTheirModule() throws IOException {
        Frame mapped = new Frame(0x1234, "", "", 0x234, "/lib/libx.so", Frame.Source.MAPPING);
        stacks.add("", List.of(Frame.unknown(1), mapped), List.of(), 1);
        assertThat(folded()).isEqualTo("[libx.so+0x234];[unknown] 1\n");
    }

    @Test
    void longNamesAndDeepStacksAreCut() throws IOException {
        stacks.add("", Collections.nCopies(5000, user("x".repeat(5000))), List.of(), 1);
        String line = folded();
        assertThat(line.length()).isEqualTo(1024 * (1024 + 1) + 2);
        assertThat(line).startsWith("x".repeat(1023) + "…;x");
    }

    @Test
    void countsAreNotNegative() throws IOException {
        assertThatThrownBy(() -> stacks.add("a", List.of(), List.of(), -1))
                .isInstanceOf(IllegalArgumentException.class);
        stacks.add("a", List.of(), List.of(), 0);
        assertThat(folded()).isEmpty();
        stacks.add("", List.of(), List.of(), 5);
        assertThat(folded()).as("a stack without frames has no line").isEmpty();
    }

    private String folded() throws IOException {
        StringBuilder out = new StringBuilder();
        stacks.folded(out);
        return out.toString();
    }

    private static Frame user(String name) {
        return new Frame(0x1000, name, name, 0, "/bin/app", Frame.Source.SYMBOLS);
    }
}
