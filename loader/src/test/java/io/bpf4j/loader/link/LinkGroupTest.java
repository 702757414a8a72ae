package io.bpf4j.loader.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LinkGroupTest {
    /** Closing can't be interrupted, so what waits in it has the bound against a hang. */
    private static final int HANG_MINUTES = 10;

    private final List<String> done = new ArrayList<>();

    private static Link link(Runnable onClose) {
        LinkGroup link = LinkGroup.inSequence("link");
        link.afterClose(onClose);
        return link;
    }

    private static LinkGroup parallel(int count, Runnable onClose) {
        LinkGroup group = LinkGroup.inParallel("group");
        IntStream.range(0, count).forEach(_ -> group.add(link(onClose)));
        return group;
    }

    private Runnable says(String what) {
        return () -> done.add(what);
    }

    private static Runnable fails(String why) {
        return () -> {
            throw new IllegalStateException(why);
        };
    }

    /** Ends only if all are there at the same time. */
    private static Runnable meets(CyclicBarrier barrier) {
        return () -> {
            try {
                barrier.await(HANG_MINUTES, TimeUnit.MINUTES);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        };
    }

    private static Runnable waitsFor(CountDownLatch latch) {
        return () -> {
            try {
                assertThat(latch.await(HANG_MINUTES, TimeUnit.MINUTES)).isTrue();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        };
    }

    @Test
    void closesInParallel() {
        LinkGroup group = parallel(20, meets(new CyclicBarrier(20)));
        group.close();
        assertThat(group.links()).hasSize(20).allMatch(Link::isClosed);
    }

    @Test
    void closesEachOnceHoweverMany() {
        LinkGroup group = parallel(3_000, () -> {
            synchronized (done) {
                done.add("link");
            }
        });
        group.close();
        group.close();
        assertThat(done).hasSize(3_000);
    }

    @Test
    void aFailureKeepsNoOtherFromClosing() {
        LinkGroup group = parallel(10, fails("refused"));
        assertThatIllegalStateException()
                .isThrownBy(group::close)
                .satisfies(e -> assertThat(e.getSuppressed()).hasSize(9));
        assertThat(group.links()).allMatch(Link::isClosed);
        group.close();
    }

    @Test
    void anEmptyGroupCloses() {
        LinkGroup group = LinkGroup.inParallel("group");
        group.close();
        assertThat(group.size()).isZero();
        assertThat(group.closeAsync()).isCompleted();
    }

    @Test
    void anInterruptedCallerStillClosesAllAndStaysInterrupted() {
        LinkGroup group = parallel(4, () -> {});
        Thread.currentThread().interrupt();
        group.close();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(group.links()).allMatch(Link::isClosed);
    }

    /** Programs run until the last link is gone, and look at what the steps take away. */
    @Test
    void stepsFollowTheLastLinkAndAllOfItIsInReverse() {
        LinkGroup group = LinkGroup.inSequence("group");
        group.afterClose(says("first step"));
        group.add(link(says("first link")));
        group.afterClose(says("second step"));
        group.add(link(says("second link")));
        group.close();
        assertThat(done).containsExactly("second link", "first link", "second step", "first step");
    }

    @Test
    void whatFailsKeepsNothingFromBeingTakenBack() {
        LinkGroup group = LinkGroup.inSequence("group");
        group.afterClose(says("first step"));
        group.afterClose(fails("step"));
        group.add(link(says("first link")));
        group.add(link(fails("link")));
        RuntimeException cause = new RuntimeException("cause");
        assertThat(group.closeAfter(cause)).isSameAs(cause);
        assertThat(done).containsExactly("first link", "first step");
        assertThat(cause.getSuppressed()).singleElement().satisfies(e -> {
            assertThat(e).hasMessage("link");
            assertThat(e.getSuppressed())
                    .singleElement()
                    .satisfies(s -> assertThat(s).hasMessage("step"));
        });
    }

    @Test
    void whatComesTooLateIsTakenBackAtOnce() {
        LinkGroup group = LinkGroup.inSequence("group");
        group.close();
        Link late = link(says("link"));
        assertThatIllegalStateException().isThrownBy(() -> group.add(late)).withMessage("group is closed");
        assertThatIllegalStateException().isThrownBy(() -> group.afterClose(says("step")));
        assertThat(late.isClosed()).isTrue();
        assertThat(done).containsExactly("link", "step");
    }

    /** The last is closed first, and waits; the group is closed to everybody, and one of two links is left. */
    @Test
    void closingInTheBackgroundTellsWhatIsLeft() {
        CountDownLatch oneClosed = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        LinkGroup group = LinkGroup.inSequence("group");
        group.afterClose(says("step"));
        group.add(link(() -> {
            oneClosed.countDown();
            waitsFor(goOn).run();
        }));
        group.add(link(() -> {}));
        Link.Closing closing = group.closeAsync();
        waitsFor(oneClosed).run();
        assertThat(group.isClosed()).isTrue();
        assertThat(closing.total()).isEqualTo(2);
        assertThat(closing.left()).isEqualTo(1);
        assertThat((Object) group.closeAsync()).isSameAs(closing);
        assertThat(closing.toCompletableFuture().complete(null))
                .as("a caller's copy ends")
                .isTrue();
        assertThat(closing.toCompletableFuture()).isNotDone();
        goOn.countDown();
        closing.toCompletableFuture().join();
        assertThat(closing.left()).isZero();
        assertThat(done).containsExactly("step");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void closingInTheBackgroundTellsTheFailure(boolean parallel) {
        LinkGroup group = parallel ? LinkGroup.inParallel("group") : LinkGroup.inSequence("group");
        group.add(link(fails("refused")));
        group.add(link(says("other")));
        Link.Closing closing = group.closeAsync();
        assertThat(closing.handle((_, failure) -> failure.getMessage())
                        .toCompletableFuture()
                        .join())
                .isEqualTo("refused");
        assertThat(done).containsExactly("other");
        assertThat(closing.left()).isEqualTo(1);
    }

    @Test
    void aLinkThatIsNoGroupCountsAsOne() {
        CountDownLatch goOn = new CountDownLatch(1);
        Link.Closing closing = link(waitsFor(goOn)).closeAsync();
        assertThat(closing.total()).isEqualTo(1);
        assertThat(closing.left()).isEqualTo(1);
        goOn.countDown();
        closing.toCompletableFuture().join();
        assertThat(closing.left()).isZero();
    }
}
