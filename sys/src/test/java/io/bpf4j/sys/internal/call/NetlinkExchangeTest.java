package io.bpf4j.sys.internal.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Answers of netlink that are late, cut, without end or interrupted, at the seam of the system calls. */
class NetlinkExchangeTest {
    private static final StructLayout STRUCT = StructLayout.of("none", "u32 index");
    private static final int SEQUENCE = 7;
    private static final int ANSWER = 44;
    private static final int MULTI = 2;
    private static final int INTERRUPTED = 1 << 4;

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final Fd socket = kernel.newFd("netlink socket");
    private final Deque<Object> reads = new ArrayDeque<>();
    private final Deque<Object> writes = new ArrayDeque<>();

    @AfterEach
    void allIsRead() {
        assertThat(reads).isEmpty();
        socket.close();
    }

    /** Reads give what the test has put in: bytes, or an error number. */
    private final class Scripted extends Call {
        Scripted(Command<?> command) {
            super(new LinuxKernel(Path.of("/proc")), command);
        }

        @Override
        long syscall(Syscall name, long a, long b, long c, long d, long e, long f) {
            Object next = name == Syscall.READ ? reads.removeFirst() : writes.isEmpty() ? c : writes.removeFirst();
            return switch (next) {
                case Errno errno -> -errno.number();
                case byte[] bytes -> {
                    MemorySegment buffer = Restricted.view(MemorySegment.ofAddress(b), c, Arena.global());
                    MemorySegment.copy(bytes, 0, buffer, ValueLayout.JAVA_BYTE, 0, bytes.length);
                    yield bytes.length;
                }
                default -> (Long) next;
            };
        }
    }

    private List<NetlinkMessage> exchange() {
        NetlinkMessage request = NetlinkMessage.request(46, 0, STRUCT, new long[] {1}, _ -> {});
        var command = new NetlinkCommand.Exchange(socket, "RTM_GETTFILTER of lo", request, SEQUENCE, List.of());
        try (Call call = new Scripted(command)) {
            return command.run(call);
        }
    }

    private static byte[] message(int type, int flags, int sequence, int... body) {
        ByteBuffer message = ByteBuffer.allocate(16 + 4 * body.length).order(ByteOrder.nativeOrder());
        message.putInt(message.capacity()).putShort((short) type).putShort((short) flags);
        message.putInt(sequence).putInt(0);
        Arrays.stream(body).forEach(message::putInt);
        return message.array();
    }

    private void answer(Object... all) {
        reads.addAll(List.of(all));
    }

    @Test
    void answersOfAnEarlierRequestAreSkipped() {
        answer(
                message(ANSWER, MULTI, SEQUENCE - 1, 1),
                message(NetlinkMessage.DONE, MULTI, SEQUENCE - 1, 0),
                message(NetlinkMessage.ERROR, 0, SEQUENCE - 1, -Errno.EPERM.number()),
                message(NetlinkMessage.NOOP, 0, SEQUENCE),
                message(ANSWER, MULTI, SEQUENCE, 2),
                message(NetlinkMessage.DONE, MULTI, SEQUENCE, 0));
        assertThat(exchange()).extracting(NetlinkMessage::type).containsExactly(ANSWER);
    }

    @Test
    void signalsInterruptNeitherTheRequestNorTheAnswer() {
        writes.addAll(List.of(Errno.EINTR, Errno.EINTR));
        answer(Errno.EINTR, message(NetlinkMessage.ERROR, 0, SEQUENCE, 0));
        assertThat(exchange()).isEmpty();
        assertThat(writes).isEmpty();
    }

    @Test
    void anAnswerThatTheKernelHadNoMemoryForIsAFailure() {
        answer(message(ANSWER, MULTI, SEQUENCE, 1), Errno.ENOBUFS);
        assertThatThrownBy(this::exchange)
                .isInstanceOfSatisfying(
                        SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOBUFS))
                .hasMessageContaining("unknown whether");
    }

    @Test
    void aCutErrorIsNoSuccess() {
        answer(message(NetlinkMessage.ERROR, 0, SEQUENCE));
        assertThatThrownBy(this::exchange).isInstanceOf(BpfException.class).hasMessageContaining("no number");
        answer((Object) new byte[0]);
        assertThatThrownBy(this::exchange).isInstanceOf(BpfException.class).hasMessageContaining("unknown whether");
        answer((Object) Arrays.copyOf(message(ANSWER, MULTI, SEQUENCE, 1), 18));
        assertThatThrownBy(this::exchange).isInstanceOf(BpfException.class).hasMessageContaining("20 bytes");
    }

    /** The rest of the list would make the kernel refuse the next one: EBUSY. */
    @Test
    void anInterruptedListIsReadToItsEnd() {
        answer(
                message(ANSWER, MULTI | INTERRUPTED, SEQUENCE, 1),
                message(ANSWER, MULTI, SEQUENCE, 2),
                message(NetlinkMessage.DONE, MULTI, SEQUENCE, 0));
        assertThatThrownBy(this::exchange)
                .isInstanceOf(BpfException.class)
                .hasMessageContaining("RTM_GETTFILTER of lo")
                .hasMessageContaining("try again");
        answer(message(NetlinkMessage.DONE, MULTI | INTERRUPTED, SEQUENCE, 0));
        assertThatThrownBy(this::exchange).hasMessageContaining("try again");
        answer(message(NetlinkMessage.OVERRUN, 0, SEQUENCE));
        assertThatThrownBy(this::exchange).hasMessageContaining("try again");
    }
}
