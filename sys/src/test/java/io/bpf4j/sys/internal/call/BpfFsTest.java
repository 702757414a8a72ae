package io.bpf4j.sys.internal.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.ObjectCommand.Kind;
import io.bpf4j.sys.kernel.Errno;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BpfFsTest {
    private static final Path PATH = Path.of("/sys/fs/bpf/events");

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final Fd map = kernel.execute(MapCommand.Create.of(1, "events", 4, 8, 1));
    private final Fd other = kernel.execute(MapCommand.Create.of(1, "other", 4, 8, 1));
    private final Fd program = ((LoadResult.Loaded)
                    Objects.requireNonNull(kernel.execute(ProgCommand.Load.of(1, "p", new byte[16], "GPL"))))
            .fd();

    @AfterEach
    void nothingStaysOpen() {
        map.close();
        other.close();
        program.close();
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void whatIsPinnedIsFoundUntilItIsUnpinned() {
        BpfFs.pin(kernel, map, PATH);
        assertThat(kernel.pinned()).containsExactly(PATH.toString());
        try (Fd again = BpfFs.open(kernel, PATH, Kind.MAP, 0)) {
            assertThat(BpfFs.id(kernel, again, Kind.MAP)).isEqualTo(BpfFs.id(kernel, map, Kind.MAP));
        }
        assertThat(BpfFs.unpin(kernel, map, Kind.MAP, PATH)).isTrue();
        assertThat(BpfFs.unpin(kernel, map, Kind.MAP, PATH)).isFalse();
        assertThat(BpfFs.find(kernel, PATH, Kind.MAP)).isEmpty();
        assertThat(kernel.pinned()).isEmpty();
    }

    @Test
    void thePinOfAnotherStays() {
        BpfFs.pin(kernel, other, PATH);
        assertThatThrownBy(() -> BpfFs.unpin(kernel, map, Kind.MAP, PATH))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("/sys/fs/bpf/events is the pin of another map")
                .hasMessageContaining("not of map \"events\"");
        assertThat(kernel.pinned()).hasSize(1);
    }

    @Test
    void aLinkHasNoFlagsButAKind() {
        try (Fd link = kernel.execute(LinkCommand.Create.of("x", program, 0, LinkCommand.Details.NONE))) {
            BpfFs.pin(kernel, link, PATH);
        }
        kernel.fail(command -> command instanceof ObjectCommand.Get get && get.flags() != 0, Errno.EINVAL);
        assertThatThrownBy(() -> BpfFs.open(kernel, PATH, Kind.MAP, 8))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("pin of a link, not of a map");
        kernel.fail(ObjectCommand.Get.class, Errno.EINVAL);
        assertThatThrownBy(() -> BpfFs.open(kernel, PATH, Kind.MAP, 8))
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("EINVAL");
    }

    @Test
    void aPinOfAnotherKindIsNotTakenForTheOneWanted() {
        BpfFs.pin(kernel, program, PATH);
        assertThatThrownBy(() -> BpfFs.open(kernel, PATH, Kind.MAP, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("/sys/fs/bpf/events is the pin of a program, not of a map");
        assertThatThrownBy(() -> BpfFs.unpin(kernel, map, Kind.MAP, PATH)).isInstanceOf(IllegalArgumentException.class);
        assertThat(kernel.pinned()).hasSize(1);
        assertThat(kernel.open()).hasSize(3);
    }

    @Test
    void refusalsAreExplained() {
        BpfFs.pin(kernel, map, PATH);
        assertThatThrownBy(() -> BpfFs.pin(kernel, map, PATH))
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("EEXIST")
                .hasMessageContaining("unpin it first");

        kernel.fail(ObjectCommand.Pin.class, Errno.EPERM);
        assertThatThrownBy(() -> BpfFs.pin(kernel, map, Path.of("/proc/.rodata")))
                .hasMessageContaining("can't contain a dot")
                .hasMessageContaining("use \"_rodata\"");
        assertThatThrownBy(() -> BpfFs.pin(kernel, map, Path.of("/proc/rodata")))
                .hasMessageContaining("/proc is in a file system of type proc, not in a BPF file system: mount -t bpf");

        kernel.fail(ObjectCommand.Pin.class, Errno.ENOENT);
        assertThatThrownBy(() -> BpfFs.pin(kernel, map, Path.of("/proc/no/such/rodata")))
                .hasMessageContaining("directory /proc/no/such does not exist");

        kernel.fail(ObjectCommand.Get.class, Errno.EACCES);
        assertThatThrownBy(() -> BpfFs.open(kernel, Path.of("/proc/version"), Kind.MAP, 0))
                .hasMessageContaining("/proc is in a file system of type proc, not in a BPF file system");
    }

    @Test
    void aMissingDirectoryIsMadeAndRemovedAgainWhereItDoesNotHelp() {
        Path path = Path.of("/sys/fs/bpf/new/events");
        kernel.failNth(1, ObjectCommand.Pin.class, Errno.ENOENT);
        BpfFs.pin(kernel, map, path);
        assertThat(kernel.commands(FileCommand.class))
                .containsExactly(new FileCommand.MakeDirectory(Path.of("/sys/fs/bpf/new")));
        assertThat(kernel.pinned()).containsExactly(path.toString());
        assertThat(BpfFs.isPinned(kernel, map, Kind.MAP, path)).isTrue();
        assertThat(BpfFs.isPinned(kernel, other, Kind.MAP, path)).isFalse();

        int[] tries = {0};
        kernel.answer(ObjectCommand.Pin.class, pin -> {
            Errno errno = tries[0]++ == 0 ? Errno.ENOENT : Errno.EPERM;
            throw new SyscallException(pin.call(), errno.number(), null);
        });
        assertThatThrownBy(() -> BpfFs.pin(kernel, map, Path.of("/proc/events")))
                .hasMessageContaining("EPERM")
                .hasMessageContaining("not in a BPF file system");
        assertThat(kernel.commands(FileCommand.RemoveDirectory.class))
                .containsExactly(new FileCommand.RemoveDirectory(Path.of("/proc")));
    }

    @Test
    void kindsAreToldByTheNamesThatProcGives() {
        assertThat(Kind.of("anon_inode:bpf-map")).isEqualTo(Optional.of(Kind.MAP));
        assertThat(Kind.of("anon_inode:bpf-prog")).isEqualTo(Optional.of(Kind.PROGRAM));
        assertThat(Kind.of("anon_inode:bpf_link")).isEqualTo(Optional.of(Kind.LINK));
        assertThat(Kind.of("anon_inode:[eventpoll]")).isEmpty();
    }

    @Test
    void dotsInNamesBecomeUnderscores() {
        assertThat(BpfFs.in(Path.of("/sys/fs/bpf"), ".data.hot")).isEqualTo(Path.of("/sys/fs/bpf/_data_hot"));
    }

    /** Names come from objects. */
    @Test
    void noNameLeadsOutOfTheDirectory() {
        for (String name : new String[] {"", "/", "../x", "a/b", "/etc/passwd", "a\0"}) {
            assertThatThrownBy(() -> BpfFs.in(Path.of("/sys/fs/bpf"), name))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("can't be pinned in /sys/fs/bpf");
        }
        assertThat(BpfFs.in(Path.of("/sys/fs/bpf"), "..")).isEqualTo(Path.of("/sys/fs/bpf/__"));
    }
}
