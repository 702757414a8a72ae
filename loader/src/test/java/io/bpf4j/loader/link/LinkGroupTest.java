package io.bpf4j.loader.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class LinkGroupTest {
    private static final class Recorded implements Link {
        private final Runnable onClose;
        private final AtomicInteger closes = new AtomicInteger();

        Recorded(Runnable onClose) {
            this.onClose = onClose;
        }

        @Override
        public String description() {
            return "recorded";
        }

        @Override
        public boolean isClosed() {
            return closes.get() > 0;
        }

        @Override
        public void close() {
            closes.incrementAndGet();
            onClose.run();
        }
    }

    private static List<Recorded> links(int count, Runnable onClose) {
        return IntStream.range(0, count).mapToObj(i -> new Recorded(onClose)).toList();
    }

    @Test
    void closesInParallel() {
        CyclicBarrier together = new CyclicBarrier(20);
        List<Recorded> links = links(20, () -> {
            try {
                // Ends only if all twenty are being closed at the same time.
                together.await(30, TimeUnit.SECONDS);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        new LinkGroup(links).close();
        assertThat(links).allMatch(Link::isClosed);
    }

    @Test
    void closesEachOnceHoweverMany() {
        List<Recorded> links = links(3_000, () -> {});
        LinkGroup group = new LinkGroup(links);
        group.close();
        group.close();
        assertThat(links).allSatisfy(link -> assertThat(link.closes).hasValue(1));
    }

    @Test
    void aFailureKeepsNoOtherFromClosing() {
        List<Recorded> links = links(10, () -> {
            throw new IllegalStateException("refused");
        });
        assertThatThrownBy(() -> new LinkGroup(links).close())
                .isInstanceOf(IllegalStateException.class)
                .satisfies(e -> assertThat(e.getSuppressed()).hasSize(9));
        assertThat(links).allMatch(Link::isClosed);
    }

    @Test
    void anEmptyGroupCloses() {
        LinkGroup group = new LinkGroup(List.<Link>of());
        group.close();
        assertThat(group.size()).isZero();
    }

    @Test
    void anInterruptedCallerStillClosesAllAndStaysInterrupted() {
        List<Recorded> links = links(4, () -> {});
        Thread.currentThread().interrupt();
        new LinkGroup(links).close();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(links).allMatch(Link::isClosed);
    }
}
