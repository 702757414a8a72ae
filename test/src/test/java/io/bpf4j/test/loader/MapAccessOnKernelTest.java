package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPFFS;
import static io.bpf4j.test.support.Requirement.UNPRIVILEGED_PINS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Maps;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.Programs;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.MapAccess;
import io.bpf4j.loader.map.UpdateMode;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.BpfFsMount;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Java;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.PinReaderMain;
import io.bpf4j.test.support.Requires;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Maps that are open only for reading or only for writing. */
@Requires({BPF, BPFFS})
@ExtendWith(LeakCheck.class)
@Timeout(300)
class MapAccessOnKernelTest {
    private static final byte[] KEY = Bpf.key(1);
    private static final byte[] VALUE = new byte[] {1, 2, 3, 4, 5, 6, 7, 8};

    private static BpfMap hash() {
        BpfMap map = Maps.create(MapSpec.of("shared", MapType.HASH, 4, 8, 16));
        map.update(KEY, VALUE);
        return map;
    }

    private static void assertRefused(ThrowingCallable call, String message) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EPERM))
                .hasMessageContaining(message);
    }

    @Test
    void aReadOnlyMapCantBeWritten() {
        try (BpfFsMount mount = BpfFsMount.mount();
                BpfMap map = hash()) {
            map.pin(mount.path("shared"));
            try (BpfMap pinned = Maps.pinned(mount.path("shared"), MapAccess.READ_ONLY);
                    BpfMap byId = Maps.byId(map.id(), MapAccess.READ_ONLY)) {
                for (BpfMap reader : List.of(pinned, byId)) {
                    assertThat(reader.lookup(KEY)).contains(VALUE);
                    assertThat(reader.keys()).hasSize(1);
                    String why = "MapAccess.READ_ONLY, so this process can't write";
                    assertRefused(() -> reader.update(KEY, new byte[8]), why);
                    assertRefused(() -> reader.delete(KEY), why);
                    assertRefused(() -> reader.lookupAndDelete(KEY), why);
                    assertRefused(
                            () -> reader.updateAll(MemorySegment.ofArray(KEY), MemorySegment.ofArray(VALUE), 1), why);
                    assertRefused(() -> reader.drain((_, _) -> {}), why);
                    assertRefused(reader::freeze, why);
                }
            }
            assertThat(map.lookup(KEY)).contains(VALUE);
            map.unpin(mount.path("shared"));
        }
    }

    @Test
    void aWriteOnlyMapCantBeRead() {
        try (BpfMap map = hash();
                BpfMap writer = Maps.byId(map.id(), MapAccess.WRITE_ONLY)) {
            assertThat(writer.update(KEY, new byte[8], UpdateMode.EXISTING_ONLY))
                    .isTrue();
            assertThat(map.lookup(KEY)).contains(new byte[8]);
            assertRefused(() -> writer.lookup(KEY), "MapAccess.WRITE_ONLY, so this process can't read");
        }
    }

    /** A process of the same user without capabilities. */
    @Test
    @Requires(UNPRIVILEGED_PINS)
    void aReadablePinIsOpenedReadOnly() throws Exception {
        try (BpfFsMount mount = BpfFsMount.mount();
                BpfMap map = hash()) {
            map.pin(mount.path("secret"));
            map.pin(mount.path("shared"));
            Path closed = Files.createDirectory(mount.path("closed"));
            Files.setPosixFilePermissions(mount.path("secret"), Set.of());
            Files.setPosixFilePermissions(closed, Set.of());
            Files.setPosixFilePermissions(mount.path("shared"), PosixFilePermissions.fromString("r--r--r--"));
            List<String> command = new ArrayList<>(List.of("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"));
            command.addAll(Java.command(
                    "-XX:TieredStopAtLevel=1",
                    "-Xmx128m",
                    "--enable-native-access=ALL-UNNAMED",
                    "-cp",
                    System.getProperty("java.class.path"),
                    PinReaderMain.class.getName(),
                    mount.directory().toString()));
            assertThat(Commands.check(command).lines().filter(line -> !line.contains(".debug")))
                    .satisfiesExactly(
                            secret -> assertThat(secret).startsWith("secret: the pin can't be opened: EACCES"),
                            shared -> assertThat(shared).isEqualTo("shared: MAP"),
                            directory -> assertThat(directory)
                                    .isEqualTo("closed: the directory can't be read: permission denied"),
                            both -> assertThat(both)
                                    .startsWith("READ_WRITE:")
                                    .contains("EACCES")
                                    .endsWith("a map or program can be opened read-only"),
                            read -> assertThat(read).isEqualTo("READ_ONLY: 0102030405060708"),
                            write -> assertThat(write).startsWith("WRITE_ONLY:").contains("EACCES"));
        }
    }

    @Test
    void aProgramIsOpenedByAReadablePin() {
        try (BpfFsMount mount = BpfFsMount.mount();
                BpfObject object = Bpf.load("test_runs.bpf.o")) {
            object.program("count").pin(mount.path("count"));
            try (Program pinned = Programs.pinnedReadOnly(mount.path("count"))) {
                assertThat(pinned.id()).isEqualTo(object.program("count").id());
            }
            assertThatThrownBy(() -> Maps.pinned(mount.path("count"), MapAccess.READ_ONLY))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("pin of a program, not of a map");
            assertThatThrownBy(() -> Maps.pinned(mount.path("nothing"), MapAccess.READ_ONLY))
                    .isInstanceOf(SyscallException.class)
                    .hasMessageContaining("ENOENT");
        }
    }
}
