package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a watch does if a look fails; {@code GroupsOnKernelTest} has what it finds. */
@Timeout(60)
class GroupWatchTest {
    private static final String MOUNT = "36 25 0:31 / /sys/fs/cgroup rw - cgroup2 none rw";

    /** How often the start asks how many programs were executed: before its look, and twice in it. */
    private static final int EXECS_OF_START = 3;

    @TempDir
    Path root;

    @BeforeEach
    void mount() throws IOException {
        Files.createDirectories(root.resolve("sys/fs/cgroup/a"));
        Files.writeString(root.resolve("sys/fs/cgroup/cgroup.procs"), "");
        Files.writeString(root.resolve("sys/fs/cgroup/a/cgroup.procs"), "");
        Files.createDirectories(root.resolve("proc/self"));
        Files.writeString(mounts(), MOUNT);
    }

    private Path mounts() {
        return root.resolve("proc/self/mountinfo");
    }

    private GroupWatch watch() {
        return GroupWatch.of(Host.at(root), new GroupPattern(GroupPattern.Kind.CGROUP, "/a"));
    }

    private static class Looks implements GroupWatch.Listener {
        final AtomicInteger execs = new AtomicInteger();

        @Override
        public void groups(Set<Long> ids) {}

        @Override
        public boolean appeared(int pid, UsdtScan scan) {
            return false;
        }

        @Override
        public long execs() {
            execs.incrementAndGet();
            return 0;
        }
    }

    @Test
    void anErrorEndsTheWatchAndIsAGap() throws Exception {
        Looks looks = new Looks() {
            @Override
            public long execs() {
                if (execs.incrementAndGet() > EXECS_OF_START) {
                    throw new OutOfMemoryError("no memory for a look");
                }
                return 0;
            }
        };
        try (GroupWatch watch = watch()) {
            watch.start(looks);
            assertThat(awaitGaps(watch))
                    .singleElement()
                    .satisfies(gap -> assertThat(gap.message())
                            .contains("the search for processes of cgroup=/a has ended", "no memory for a look"));
        }
    }

    @Test
    void aLookThatFailsIsAGapAndTheNextLookIsMade() throws Exception {
        Looks looks = new Looks();
        try (GroupWatch watch = watch()) {
            watch.start(looks);
            Files.delete(mounts());
            assertThat(awaitGaps(watch))
                    .extracting(Diagnostic::kind, Diagnostic::subject)
                    .containsExactly(tuple(Diagnostic.Kind.NOT_ATTACHED, "cgroup=/a"));
            int before = looks.execs.get();
            Files.writeString(mounts(), MOUNT);
            while (looks.execs.get() == before) {
                awaitNextLook();
            }
        }
    }

    private static List<Diagnostic> awaitGaps(GroupWatch watch) throws InterruptedException {
        while (watch.gaps().isEmpty()) {
            awaitNextLook();
        }
        return watch.gaps();
    }

    private static void awaitNextLook() throws InterruptedException {
        Thread.sleep(10);
    }
}
