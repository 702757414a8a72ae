package io.bpf4j.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkGroup;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ReplacedFilesTest {
    private static final Path PROGRAM = Path.of("/usr/bin/program");

    private long now;
    private Set<Path> replaced = Set.of();
    private Optional<RuntimeException> failure = Optional.empty();
    private Optional<String> missing = Optional.empty();
    private final List<Link> attached = new ArrayList<>();
    private final List<Link> detached = new ArrayList<>();
    private int attempts;

    private final ReplacedFiles files = new ReplacedFiles(() -> replaced, new Attacher(), () -> now);

    private final class Attacher implements ReplacedFiles.Attacher {
        @Override
        public ReplacedFiles.Attached attach(Set<Path> paths) {
            attempts++;
            failure.ifPresent(e -> {
                throw e;
            });
            Link link = LinkGroup.inSequence("attempt " + attempts);
            attached.add(link);
            return new ReplacedFiles.Attached(List.of(link), missing, Optional.empty());
        }

        @Override
        public void detach(Link link) {
            detached.add(link);
        }
    }

    private void later(Duration time) {
        now += time.toNanos();
        files.look();
    }

    @Test
    void whatWasNotReplacedIsLeftAlone() {
        files.look();
        later(Duration.ofHours(1));
        assertThat(attempts).isZero();
        assertThat(files.reasons()).isEmpty();
    }

    @Test
    void whatWasReplacedIsAttachedToAtOnce() {
        replaced = Set.of(PROGRAM);
        files.look();
        assertThat(attempts).isOne();
        replaced = Set.of();
        later(ReplacedFiles.PAUSE);
        assertThat(attempts).isOne();
        assertThat(files.reasons()).isEmpty();
    }

    /** Whoever owns the file may replace it all the time. */
    @Test
    void attemptsBecomeRare() {
        replaced = Set.of(PROGRAM);
        files.look();
        later(ReplacedFiles.PAUSE.minusNanos(1));
        assertThat(attempts).isOne();
        later(Duration.ofNanos(1));
        assertThat(attempts).isEqualTo(2);
        later(ReplacedFiles.PAUSE);
        assertThat(attempts).as("twice as long").isEqualTo(2);
        for (int second = 0; second < 3_600; second++) {
            later(Duration.ofSeconds(1));
        }
        assertThat(attempts).isLessThan(25);
        int before = attempts;
        replaced = Set.of();
        later(ReplacedFiles.LONGEST_PAUSE.multipliedBy(3));
        replaced = Set.of(PROGRAM);
        files.look();
        later(ReplacedFiles.PAUSE);
        assertThat(attempts).as("after a while without").isEqualTo(before + 2);
    }

    @Test
    void theLastOnesStayAttached() {
        replaced = Set.of(PROGRAM);
        for (int i = 0; i < ReplacedFiles.MOST_KEPT; i++) {
            later(ReplacedFiles.LONGEST_PAUSE);
        }
        assertThat(detached).isEmpty();
        assertThat(files.reasons()).isEmpty();
        later(ReplacedFiles.LONGEST_PAUSE);
        assertThat(detached).containsExactly(attached.getFirst());
        assertThat(files.reasons())
                .containsExactly("files were replaced more than 4 times: processes that run neither the first"
                        + " file nor one of the last 4 are no longer counted");
    }

    @Test
    void thereIsAnEnd() {
        replaced = Set.of(PROGRAM);
        for (int i = 0; i < ReplacedFiles.MOST + 10; i++) {
            later(ReplacedFiles.LONGEST_PAUSE);
        }
        assertThat(attempts).isEqualTo(ReplacedFiles.MOST);
        assertThat(files.reasons().getFirst()).startsWith("files were replaced more than 256 times: ");
    }

    /** What a refused attachment has taken from the kernel may be free only later. */
    @Test
    void refusedAttemptsEndToo() {
        replaced = Set.of(PROGRAM);
        failure = Optional.of(new IllegalStateException("refused"));
        for (int i = 0; i < ReplacedFiles.MOST + 10; i++) {
            later(ReplacedFiles.LONGEST_PAUSE);
        }
        assertThat(attempts).isEqualTo(ReplacedFiles.MOST);
    }

    @Test
    void aFailureIsSaidUntilItIsOver() {
        replaced = Set.of(PROGRAM);
        failure = Optional.of(new CommandException("no probe"));
        files.look();
        assertThat(files.reasons())
                .containsExactly("the file that replaced /usr/bin/program is not attached to: no probe");
        failure = Optional.of(new IllegalArgumentException("another type"));
        later(ReplacedFiles.PAUSE);
        assertThat(files.reasons())
                .containsExactly("the file that replaced /usr/bin/program is not attached to: another type");
        failure = Optional.empty();
        missing = Optional.of("there are more probes");
        later(ReplacedFiles.LONGEST_PAUSE);
        assertThat(files.reasons()).containsExactly("there are more probes");
        missing = Optional.empty();
        later(ReplacedFiles.LONGEST_PAUSE);
        assertThat(files.reasons()).isEmpty();
        assertThat(detached).isEmpty();
    }
}
