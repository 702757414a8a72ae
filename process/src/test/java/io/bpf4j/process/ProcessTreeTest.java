package io.bpf4j.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessTreeTest {
    private static final String PROGRAM = "55d0c0000000-55d0c0001000 r-xp 00001000 fe:01 11    /usr/bin/program\n";
    private static final String LIBRARY = "7f00c0000000-7f00c0001000 r-xp 00001000 fe:01 12    /lib/with space.so\n";
    private static final String DATA = "7f00d0000000-7f00d0001000 r--p 00000000 fe:01 13    /lib/data.so\n";
    private static final String ANONYMOUS = "7f00e0000000-7f00e0001000 r-xp 00000000 00:00 0 \n";

    @TempDir
    Path proc;

    private ProcessTree tree;

    @BeforeEach
    void watch() {
        tree = new ProcessTree(Host.running().withProc(proc), 10, true);
    }

    @Test
    void onlyNewCodeCounts() throws IOException {
        process(10, PROGRAM);
        assertThat(names()).containsExactly("10 /usr/bin/program");
        assertThat(names()).isEmpty();
        process(10, PROGRAM + DATA + ANONYMOUS);
        assertThat(names()).as("data and anonymous memory").isEmpty();
        process(10, PROGRAM + DATA + LIBRARY);
        assertThat(names()).containsExactly("10 /lib/with space.so");
        process(10, PROGRAM);
        assertThat(names()).as("unmapped").isEmpty();
        process(10, PROGRAM + LIBRARY);
        assertThat(names()).as("mapped again").containsExactly("10 /lib/with space.so");
    }

    @Test
    void childrenOfAnyThreadBelongToItIfAskedFor() throws IOException {
        tree = new ProcessTree(Host.running().withProc(proc), 10, false);
        process(10, PROGRAM);
        process(11, PROGRAM + LIBRARY);
        process(12, LIBRARY);
        children(10, 10, "");
        children(10, 13, "11 ");
        children(11, 11, "12 ");
        assertThat(names()).containsExactly("10 /usr/bin/program");
        tree = new ProcessTree(Host.running().withProc(proc), 10, true);
        assertThat(names())
                .containsExactly(
                        "10 /usr/bin/program", "11 /usr/bin/program", "11 /lib/with space.so", "12 /lib/with space.so");
        assertThat(tree.processes()).containsExactly(10, 11, 12);
    }

    @Test
    void whereTheKernelListsNoChildrenTheirParentsAreAsked() throws IOException {
        process(10, PROGRAM);
        process(11, LIBRARY);
        Files.createDirectories(proc.resolve("10/task/10"));
        Files.createDirectories(proc.resolve("11/task/11"));
        Files.writeString(proc.resolve("10/status"), "Name:\tsh\nTgid:\t10\nPPid:\t1\n");
        Files.writeString(
                proc.resolve("11/status"), "Name:\ta\rPPid:\t1\nState:\tS (sleeping)\nTgid:\t11\nPPid:\t10\n");
        assertThat(names()).containsExactly("10 /usr/bin/program", "11 /lib/with space.so");
    }

    @Test
    void aChildStaysWhenItsParentEnds() throws IOException {
        process(10, PROGRAM);
        process(11, LIBRARY);
        children(10, 10, "11");
        names();
        ended(10);
        assertThat(names()).isEmpty();
        assertThat(tree.processes()).containsExactly(11);
        ended(11);
        names();
        assertThat(tree.processes()).isEmpty();
    }

    @Test
    void aZombieIsGoneAndAProcessInTheMiddleOfExecIsNot() throws IOException {
        process(10, "");
        children(10, 10, "");
        Files.writeString(proc.resolve("10/status"), "Name:\tsh\nState:\tR (running)\n");
        names();
        assertThat(tree.processes()).containsExactly(10);
        Files.writeString(proc.resolve("10/status"), "Name:\tsh\nState:\tZ (zombie)\n");
        names();
        assertThat(tree.processes()).isEmpty();
    }

    @Test
    void aProcessStaysWhoseFirstThreadHasEnded() throws IOException {
        process(10, "");
        children(10, 10, "");
        children(10, 11, "");
        Files.writeString(proc.resolve("10/status"), "Name:\tsh\nState:\tZ (zombie)\n");
        names();
        assertThat(tree.processes()).containsExactly(10);
    }

    /** Looks at all processes of the tree, and at the children that it finds. */
    private List<String> names() {
        List<String> names = new ArrayList<>();
        Deque<Integer> left = new ArrayDeque<>(tree.processes());
        while (!left.isEmpty()) {
            WatchedProcess process = tree.find(left.removeFirst()).orElseThrow();
            process.begin(OptionalLong.empty());
            WatchedProcess.Found found = toEnd(process);
            found.appeared().forEach(file -> names.add(process.pid() + " " + file.name()));
            if (found.running()) {
                left.addAll(tree.addChildren(process.pid()));
            } else {
                tree.remove(process.pid());
            }
        }
        return names;
    }

    private static WatchedProcess.Found toEnd(WatchedProcess process) {
        Optional<WatchedProcess.Found> found = process.step();
        while (found.isEmpty()) {
            found = process.step();
        }
        return found.get();
    }

    /** Told once, although the process is looked at again and again. */
    @Test
    void aProcessWithTooMuchIsLeftOutUntilItCallsExec() throws IOException {
        StringBuilder much = new StringBuilder();
        for (int inode = 1; inode <= ProcessLimits.MAX_FILES + 1; inode++) {
            much.append("55d0c0000000-55d0c0001000 r-xp 00001000 fe:01 ")
                    .append(inode)
                    .append(" /f\n");
        }
        process(10, much.toString());
        WatchedProcess process = tree.find(10).orElseThrow();
        process.begin(OptionalLong.empty());
        assertThat(toEnd(process).problem()).contains("process 10 is left out");
        Files.writeString(proc.resolve("10/status"), "Name:\tsh\nState:\tR (running)\n");
        process.begin(OptionalLong.empty());
        assertThat(toEnd(process))
                .isEqualTo(new WatchedProcess.Found(List.of(), List.of(), Optional.empty(), "", true));
        process(10, PROGRAM);
        process.renew();
        assertThat(names()).containsExactly("10 /usr/bin/program");
    }

    /** For instance because this process has no descriptor left; it is no end. */
    @Test
    void aProcessThatCantBeReadIsLeftOut() throws IOException {
        Files.createDirectories(proc.resolve("10/maps"));
        children(10, 10, "");
        WatchedProcess process = tree.find(10).orElseThrow();
        process.begin(OptionalLong.empty());
        assertThat(toEnd(process)).satisfies(found -> {
            assertThat(found.running()).isTrue();
            assertThat(found.problem()).contains("process 10 is left out", "maps");
        });
        process.begin(OptionalLong.empty());
        assertThat(toEnd(process))
                .isEqualTo(new WatchedProcess.Found(List.of(), List.of(), Optional.empty(), "", true));
    }

    @Test
    void aNewSearchFindsWhatTheOneBeforeHadPassed() throws IOException {
        process(10, PROGRAM + "7f00f0000000-7f00f0001000 rw-p 00000000 00:00 0 \n".repeat(2000));
        WatchedProcess process = tree.find(10).orElseThrow();
        process.begin(OptionalLong.empty());
        assertThat(process.step()).isEmpty();
        process(10, PROGRAM + LIBRARY);
        process.begin(OptionalLong.of(0x7f00c0000abcL));
        WatchedProcess.Found found = toEnd(process);
        assertThat(found.appeared())
                .extracting(MappedFile::name)
                .containsExactly("/usr/bin/program", "/lib/with space.so");
        assertThat(found.atAddress()).map(MappedFile::name).contains("/lib/with space.so");
    }

    private void process(int pid, String maps) throws IOException {
        Path directory = Files.createDirectories(proc.resolve(Integer.toString(pid)));
        Files.writeString(directory.resolve("maps"), maps);
        if (Files.notExists(directory.resolve("status"))) {
            Files.writeString(directory.resolve("status"), "Name:\tsh\nState:\tR (running)\n");
        }
    }

    private void ended(int pid) throws IOException {
        try (Stream<Path> files = Files.walk(proc.resolve(Integer.toString(pid)))) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private void children(int pid, int thread, String children) throws IOException {
        Path directory = Files.createDirectories(proc.resolve(pid + "/task/" + thread));
        Files.writeString(directory.resolve("children"), children);
    }
}
