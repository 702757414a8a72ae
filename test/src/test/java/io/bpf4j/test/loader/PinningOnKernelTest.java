package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Maps;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.BpfFsMount;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What is pinned in a BPF file system, which each test mounts for itself. */
@Requires({Requirement.BPF, Requirement.BPFFS})
@ExtendWith(LeakCheck.class)
@Timeout(300)
class PinningOnKernelTest {
    private BpfFsMount mount;

    @BeforeEach
    void mountOne() {
        mount = BpfFsMount.mount();
    }

    @AfterEach
    void unmount() {
        mount.close();
    }

    private BpfLoader loader() {
        return BpfLoader.of(Bpf.spec("pinned.bpf.o")).pinDirectory(mount.directory());
    }

    private static void run(BpfObject object) {
        object.program("count").test(TestRun.onData(new byte[14]));
    }

    private static long value(BpfObject object, String map) {
        return Bpf.element(object.map(map), 0).getLong();
    }

    private static Set<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            // maps.debug and progs.debug are the kernel's own, where it has them.
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> !name.contains("."))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    @Test
    void whoeverLoadsTheObjectCountsInTheSameMap() throws IOException {
        try (BpfObject first = loader().load();
                BpfObject second = loader().load()) {
            run(first);
            run(second);
            assertThat(value(first, "shared")).isEqualTo(2);
            assertThat(value(first, "own")).isEqualTo(1);
            assertThat(second.map("shared").id()).isEqualTo(first.map("shared").id());
        }
        assertThat(names(mount.directory())).containsExactly("shared");
        try (BpfObject third = loader().load()) {
            run(third);
            assertThat(value(third, "shared"))
                    .as("kept while nobody had it open")
                    .isEqualTo(3);
            assertThat(third.map("shared").unpin(mount.path("shared"))).isTrue();
        }
        try (BpfObject fourth = loader().load()) {
            run(fourth);
            assertThat(value(fourth, "shared")).isEqualTo(1);
        }
    }

    @Test
    void whoRemovesItsOwnPinsLeavesThoseThatWereThere() throws IOException {
        try (BpfObject first = loader().load();
                BpfObject second = loader().load()) {
            second.removeOwnPins();
            assertThat(names(mount.directory())).containsExactly("shared");
            first.removeOwnPins();
            assertThat(names(mount.directory())).isEmpty();
            second.map("shared").pin(mount.path("shared"));
        }
        // A step after the pins fails: the kernel takes no such program without an attach type.
        assertThatThrownBy(() -> loader().map("own", map -> map.withPinByName(true))
                        .program("count", program -> program.withType(ProgramType.CGROUP_SOCK_ADDR))
                        .load())
                .isInstanceOf(RuntimeException.class)
                .hasMessageContaining("load program \"count\"");
        assertThat(names(mount.directory())).containsExactly("shared");
    }

    /** The command's own directory is /sys/fs/bpf, which this file system is put over, for the command alone. */
    @Test
    @Requires(Requirement.MOUNT_NAMESPACES)
    void theCommandLoadLeavesThePinsThatWereThereAndNoOther(@TempDir Path folder)
            throws IOException, InterruptedException {
        Path object = Files.write(folder.resolve("pinned.bpf.o"), TestObjects.bytes("pinned.bpf.o"));
        Path refused = Files.write(folder.resolve("refused.bpf.o"), TestObjects.bytes("refused.bpf.o"));
        assertThat(loadByCommand(object).exitCode()).isZero();
        assertThat(names(mount.directory())).isEmpty();
        int id;
        try (BpfObject first = loader().load()) {
            id = first.map("shared").id();
        }
        assertThat(loadByCommand(object).exitCode()).isZero();
        // The second object fails after the first one was loaded.
        assertThat(loadByCommand(object, refused).exitCode()).isOne();
        assertThat(names(mount.directory())).containsExactly("shared");
        try (BpfMap pinned = Maps.pinned(mount.path("shared"))) {
            assertThat(pinned.id()).isEqualTo(id);
        }
    }

    private Commands.Result loadByCommand(Path... objects) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                "unshare",
                "-m",
                "sh",
                "-ec",
                "mount --bind \"$0\" /sys/fs/bpf; exec \"$@\"",
                mount.directory().toString()));
        command.addAll(Cli.command("load"));
        Stream.of(objects).map(Path::toString).forEach(command::add);
        return Commands.run(command);
    }

    @Test
    void aMapThatDoesNotFitIsRefusedWithBothDefinitions() {
        try (BpfMap other = Maps.create(MapSpec.of("shared", MapType.HASH, 4, 8, 17))) {
            other.pin(mount.path("shared"));
            assertThatThrownBy(() -> loader().load())
                    .isInstanceOf(InvalidObjectException.class)
                    .hasMessageContaining("pinned at " + mount.path("shared"))
                    .hasMessageContaining("has HASH, key 4 B, value 8 B, max_entries 17, flags 0x0")
                    .hasMessageContaining("defines HASH, key 4 B, value 8 B, max_entries 16, flags 0x0");
            try (BpfObject edited =
                    loader().map("shared", map -> map.withMaxEntries(17)).load()) {
                assertThat(edited.map("shared").id()).isEqualTo(other.id());
            }
        }
    }

    @Test
    void aDirectoryIsMadeAndOneThatIsNoBpfFileSystemExplained(@TempDir Path elsewhere) throws IOException {
        try (BpfObject object = loader().pinDirectory(mount.path("made")).load()) {
            assertThat(object.map("shared").isClosed()).isFalse();
            assertThat(names(mount.path("made"))).containsExactly("shared");
        }
        for (Path directory : List.of(elsewhere, elsewhere.resolve("made"))) {
            assertThatThrownBy(() -> loader().pinDirectory(directory).load())
                    .isInstanceOf(SyscallException.class)
                    .hasMessageContaining(directory.toString())
                    .hasMessageContaining("not in a BPF file system: mount -t bpf");
        }
        assertThat(elsewhere).as("made in vain, and removed").isEmptyDirectory();
        assertThatThrownBy(() ->
                        loader().pinDirectory(mount.path("no").resolve("such")).load())
                .hasMessageContaining("does not exist; create it in a mounted BPF file system");
    }

    @Test
    void aLoadThatFailsLeavesNoPin() throws IOException {
        assertThatThrownBy(() -> BpfLoader.of(Bpf.spec("refused.bpf.o"))
                        .pinDirectory(mount.directory())
                        .load())
                .isInstanceOf(RuntimeException.class);
        assertThat(names(mount.directory())).isEmpty();
        // The map is pinned by then, and the kernel refuses the name of the next.
        assertThatThrownBy(
                        () -> loader().map("own", map -> map.withPinByName(true).withMaxEntries(0))
                                .load())
                .isInstanceOf(InvalidObjectException.class);
        assertThat(names(mount.directory())).isEmpty();
    }

    @Test
    void aWholeObjectIsPinnedAndOutlivesItsLoader() throws IOException {
        Path maps = mount.path("maps");
        Path programs = mount.path("programs");
        try (BpfObject object = Bpf.load("test_runs.bpf.o")) {
            object.pinMaps(maps);
            object.pinMaps(maps); // they are
            object.pinPrograms(programs);
            assertThat(names(maps)).contains("_bss");
            assertThat(names(programs)).containsExactly("count", "longer", "mark");
            object.program("count").test(TestRun.onData(new byte[14]).withRepeat(5));
        }
        try (BpfMap bss = Maps.pinned(maps.resolve("_bss"))) {
            assertThat(Bpf.element(bss, 0).getLong(0)).isEqualTo(5);
        }
        try (BpfObject other = Bpf.load("test_runs.bpf.o")) {
            assertThatThrownBy(() -> other.pinPrograms(programs)).hasMessageContaining("EEXIST");
            assertThatThrownBy(() -> other.unpinPrograms(programs)).isInstanceOf(IllegalArgumentException.class);
            assertThat(names(programs)).hasSize(3);
            other.pinPrograms(mount.path("others"));
            other.unpinPrograms(mount.path("others"));
            assertThat(names(mount.path("others"))).isEmpty();
            // All or none: the second name is taken.
            other.program("mark").pin(mount.path("others").resolve("longer"));
            assertThatThrownBy(() -> other.pinPrograms(mount.path("others"))).hasMessageContaining("EEXIST");
            assertThat(names(mount.path("others"))).containsExactly("longer");
        }
    }
}
