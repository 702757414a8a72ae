package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.Link.Closing;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What becomes of links. {@code CliFollowTest} has the rest. */
class FollowerTest {
    private final List<String> done = new ArrayList<>();
    private final Follower follower;

    FollowerTest() throws IOException {
        FunctionProbe function = FunctionProbe.entry(Path.of(System.getProperty("java.home"), "bin", "java"), "main");
        follower = new Follower(new Session(), _ -> List.of(), List.of(function), _ -> {});
    }

    private final class Session implements ProbeSession {
        @Override
        public UsdtLink attach(List<UsdtProbe> probes, OptionalInt pid) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Link attachFunctions(List<FunctionProbe> functions, OptionalInt pid, Consumer<FunctionProbe> leftOut) {
            return new NoLink();
        }

        @Override
        public void detach(Link link) {
            done.add("in the background");
        }

        @Override
        public void close(Link link) {
            done.add("at once");
        }

        @Override
        public List<Closing> detach() {
            return List.of();
        }

        @Override
        public void wakeup() {}

        @Override
        public void close() {}
    }

    private static final class NoLink implements Link {
        @Override
        public String description() {
            return "no link";
        }

        @Override
        public boolean isClosed() {
            return false;
        }

        @Override
        public void close() {}

        @Override
        public Closing closeAsync() {
            throw new UnsupportedOperationException();
        }
    }

    /** A look during the exec may have attached to the new program, which would count each event twice. */
    @Test
    void theLinksOfAnExecByAnotherThreadAreClosedAtOnce() {
        int pid = (int) ProcessHandle.current().pid();
        follower.attachFunctions(pid);
        follower.ended(pid);
        assertThat(done).containsExactly("at once");
    }

    @Test
    void theLinksOfAProcessThatHasEndedAreClosedInTheBackground() {
        // More than the kernel gives out: the number of a process that has ended may soon be that of another.
        int pid = 1 << 28;
        follower.attachFunctions(pid);
        follower.ended(pid);
        assertThat(done).containsExactly("in the background");
    }
}
