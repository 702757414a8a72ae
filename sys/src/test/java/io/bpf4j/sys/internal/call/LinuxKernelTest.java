package io.bpf4j.sys.internal.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The calls that need no right at all, on the real kernel. */
class LinuxKernelTest {
    private final Kernel kernel = Kernel.of(Host.running());

    @Test
    void eventfdCountsAndWakesEpoll() {
        try (Arena arena = Arena.ofConfined();
                Fd event = kernel.execute(new FileCommand.Eventfd("test"));
                Fd epoll = kernel.execute(new FileCommand.EpollCreate("test"))) {
            MemorySegment word = arena.allocate(8, 8);
            MemorySegment events = arena.allocate(4L * EpollEvent.SIZE, 8);
            kernel.execute(new FileCommand.EpollAdd(epoll, event, 0x1122334455667788L, EpollEvent.READABLE));
            assertThat(kernel.execute(new FileCommand.Read(event, word))).isEqualTo(-Errno.EAGAIN.number());
            assertThat(kernel.execute(new FileCommand.EpollWait(epoll, events, 0)))
                    .isZero();
            word.set(ValueLayout.JAVA_LONG, 0, 3);
            assertThat(kernel.execute(new FileCommand.Write(event, word))).isEqualTo(8);
            assertThat(kernel.execute(new FileCommand.EpollWait(epoll, events, -1)))
                    .isEqualTo(1);
            assertThat(EpollEvent.data(events, 0)).isEqualTo(0x1122334455667788L);
            word.set(ValueLayout.JAVA_LONG, 0, 0);
            assertThat(kernel.execute(new FileCommand.Read(event, word))).isEqualTo(8);
            assertThat(word.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(3);
        }
    }

    @Test
    void mappingsShareMemoryAndRefuseUseAfterClose() throws IOException {
        Path file = Files.createTempFile("bpf4j", ".map");
        Files.write(file, new byte[4096]);
        try (Fd fd = kernel.execute(new FileCommand.Open(file, OpenFlags.RDWR))) {
            Mapping written = kernel.execute(new FileCommand.Map(fd, 0, 4096, true));
            Mapping read = kernel.execute(new FileCommand.Map(fd, 0, 4096, false));
            written.segment().set(ValueLayout.JAVA_INT, 100, 42);
            assertThat(read.segment().get(ValueLayout.JAVA_INT, 100)).isEqualTo(42);
            MemorySegment segment = read.segment();
            read.close();
            read.close();
            assertThatThrownBy(() -> segment.get(ValueLayout.JAVA_INT, 100)).isInstanceOf(IllegalStateException.class);
            written.close();
        } finally {
            Files.delete(file);
        }
    }

    @Test
    void aFileSystemHasItsNumberAlsoWithoutAccessToIt() {
        try (Fd proc = kernel.execute(new FileCommand.Open(Path.of("/proc"), OpenFlags.PATH))) {
            assertThat(kernel.execute(new FileCommand.TypeOfFileSystem(proc))).isEqualTo(0x9fa0);
        }
    }

    @Test
    void aRefusalNamesTheCallTheThingAndTheReason() {
        assertThatThrownBy(() -> kernel.execute(new FileCommand.Open(Path.of("/nowhere/at/all"), OpenFlags.RDONLY)))
                .isInstanceOfSatisfying(SyscallException.class, e -> {
                    assertThat(e.errno()).isEqualTo(Errno.ENOENT);
                    assertThat(e).hasMessage("open of /nowhere/at/all failed: ENOENT (No such file or directory)");
                });
    }

    @Test
    void aClosedDescriptorNeverReachesTheKernel() {
        Fd event = kernel.execute(new FileCommand.Eventfd("test"));
        event.close();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment word = arena.allocate(8, 8);
            assertThatThrownBy(() -> kernel.execute(new FileCommand.Read(event, word)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("eventfd of test is closed");
        }
    }

    @Test
    void heldDescriptorsAreReleasedAlsoWhenOneOfThemIsClosed() throws IOException {
        Fd epoll = kernel.execute(new FileCommand.EpollCreate("test"));
        Fd event = kernel.execute(new FileCommand.Eventfd("test"));
        event.close();
        assertThatThrownBy(() -> kernel.execute(new FileCommand.EpollAdd(epoll, event, 0, EpollEvent.READABLE)))
                .isInstanceOf(IllegalStateException.class);
        int number = epoll.number();
        epoll.close();
        assertThat(opened(number)).doesNotContain("eventpoll");
    }

    /** What a descriptor is of, empty if it is closed: another thread may have opened the number anew, and close it. */
    private static String opened(int number) throws IOException {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd", Integer.toString(number)))
                    .toString();
        } catch (NoSuchFileException e) {
            return "";
        }
    }
}
