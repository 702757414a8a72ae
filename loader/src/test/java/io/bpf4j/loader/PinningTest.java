package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.test.objects.TestObjects;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Maps by their names in a BPF file system, and whole objects pinned. */
class PinningTest {
    private static final Path DIRECTORY = Path.of("/sys/fs/bpf/app");
    private static final Path HASH = DIRECTORY.resolve("hash");

    private final ScriptedKernel kernel = new ScriptedKernel();

    @AfterEach
    void nothingStaysOpen() {
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void theFirstMakesTheMapAndTheSecondFindsIt() {
        try (BpfObject first = loader().load();
                BpfObject second = loader().load()) {
            assertThat(second.map("hash").id()).isEqualTo(first.map("hash").id());
            assertThat(second.map("array").id()).isNotEqualTo(first.map("array").id());
            assertThat(kernel.pinned()).containsExactly(HASH.toString());
        }
        try (BpfObject third = loader().load()) {
            assertThat(third.map("hash").name()).isEqualTo("hash");
        }
        assertThat(kernel.commands(ObjectCommand.Pin.class))
                .as("kept from the first")
                .hasSize(1);
    }

    @Test
    void withoutADirectoryTheUsualOne() {
        try (BpfObject object = ScriptedLoads.loader(kernel, ScriptedLoads.spec("maps.bpf.o"))
                .map("hash", map -> map.withPinByName(true))
                .load()) {
            assertThat(object.map("hash").isClosed()).isFalse();
            assertThat(kernel.pinned()).containsExactly(kernel.host().sys() + "/fs/bpf/hash");
        }
    }

    @Test
    void aMapThatDoesNotFitIsRefusedWithBothDefinitions() {
        MapSpec other = MapSpec.of("hash", MapType.ARRAY, 4, 24, 7).withFlags(MapSpec.F_MMAPABLE);
        try (BpfMap pinned = Maps.create(kernel.host(), ScriptedLoads.everything(), other)) {
            pinned.pin(HASH);
        }
        assertThatThrownBy(() -> loader().load())
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("maps.bpf.o: map \"hash\" can't use the map pinned at " + HASH)
                .hasMessageContaining("which has ARRAY, key 4 B, value 24 B, max_entries 7, flags 0x400")
                .hasMessageContaining("defines HASH, key 8 B, value 16 B")
                .hasMessageContaining("BpfLoader.pinDirectory");
        assertThat(kernel.pinned()).hasSize(1);
    }

    @Test
    void sizeAndFlagsCountToo() {
        for (MapSpec changed :
                List.of(spec("hash").withMaxEntries(3), spec("hash").withFlags(MapSpec.F_NO_PREALLOC), spec("hash"))) {
            try (BpfMap pinned = Maps.create(kernel.host(), ScriptedLoads.everything(), changed)) {
                pinned.pin(HASH);
                if (changed.equals(spec("hash"))) {
                    loader().load().close();
                } else {
                    assertThatThrownBy(() -> loader().load()).isInstanceOf(InvalidObjectException.class);
                }
                pinned.unpin(HASH);
            }
        }
    }

    /** The size of a ring is rounded up when it is made; the pinned one has that size. */
    @Test
    void aRingOfTheRoundedSizeFits() {
        for (int i = 0; i < 2; i++) {
            ScriptedLoads.loader(kernel, ScriptedLoads.spec("maps.bpf.o"))
                    .map("ring", map -> map.withPinByName(true).withMaxEntries(5000))
                    .load()
                    .close();
        }
        assertThat(kernel.commands(ObjectCommand.Pin.class)).hasSize(1);
    }

    @Test
    void aProgramUnderTheNameIsNoMap() {
        try (BpfObject object = loader("counters.bpf.o").load()) {
            object.programs().iterator().next().pin(HASH);
        }
        assertThatThrownBy(() -> loader().load())
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("is the pin of a program, not of a map");
    }

    @Test
    void whoeverIsSlowerTakesTheOthers() {
        BpfMap[] others = new BpfMap[1];
        kernel.answer(ObjectCommand.Pin.class, pin -> {
            throw new SyscallException(pin.call(), Errno.EEXIST.number(), null);
        });
        kernel.answer(ObjectCommand.Get.class, get -> {
            if (kernel.commands(ObjectCommand.Pin.class).isEmpty()) {
                throw new SyscallException(get.call(), Errno.ENOENT.number(), null);
            }
            others[0] = Maps.create(kernel.host(), ScriptedLoads.everything(), spec("hash"));
            return KernelMap.of(others[0]).fd();
        });
        try (BpfObject object = loader().load()) {
            assertThat(object.map("hash").id()).isEqualTo(others[0].id());
        }
    }

    @Test
    void aLoadThatFailsLeavesNoPinOfItsOwn() {
        kernel.answer(ProgCommand.Load.class, _ -> ScriptedKernel.refused(Errno.EACCES, "no"));
        assertThatThrownBy(() -> loader().load()).isInstanceOf(RuntimeException.class);
        assertThat(kernel.pinned()).isEmpty();
    }

    @Test
    void aLoadThatFailsRemovesTheDirectoryThatItMade() {
        kernel.failNth(1, ObjectCommand.Pin.class, Errno.ENOENT);
        kernel.answer(ProgCommand.Load.class, _ -> ScriptedKernel.refused(Errno.EACCES, "no"));
        assertThatThrownBy(() -> loader().load()).isInstanceOf(RuntimeException.class);
        assertThat(kernel.pinned()).isEmpty();
        assertThat(kernel.commands(FileCommand.MakeDirectory.class))
                .containsExactly(new FileCommand.MakeDirectory(DIRECTORY));
        assertThat(kernel.commands(FileCommand.RemoveDirectory.class))
                .containsExactly(new FileCommand.RemoveDirectory(DIRECTORY));
    }

    @Test
    void mapsAndProgramsOfAnObjectArePinnedAndUnpinned() {
        try (BpfObject object = loader("test_runs.bpf.o").load()) {
            object.pinMaps(DIRECTORY);
            object.pinMaps(DIRECTORY); // they are
            assertThat(kernel.pinned()).hasSize(object.maps().size()).contains(DIRECTORY + "/_bss");
            object.pinPrograms(DIRECTORY.resolve("programs"));
            assertThat(kernel.pinned()).contains(DIRECTORY + "/programs/count", DIRECTORY + "/programs/mark");
            object.unpinMaps(DIRECTORY);
            object.unpinPrograms(DIRECTORY.resolve("programs"));
            assertThat(kernel.pinned()).isEmpty();
        }
    }

    @Test
    void allOrNone() {
        try (BpfObject object = loader("maps.bpf.o").load();
                BpfObject other = loader("maps.bpf.o").load()) {
            String[] before = kernel.pinned().toArray(String[]::new);
            assertThat(Arrays.asList(before)).containsExactly(HASH.toString());
            // The third is taken by a map of another object.
            other.map("ring").pin(DIRECTORY.resolve("ring"));
            assertThatThrownBy(() -> object.pinMaps(DIRECTORY))
                    .isInstanceOf(SyscallException.class)
                    .hasMessageContaining("EEXIST");
            assertThat(kernel.pinned()).containsExactlyInAnyOrder(HASH.toString(), DIRECTORY + "/ring");
        }
    }

    @Test
    void onlyThePinsThatALoadMadeAreItsOwn() {
        try (BpfObject first = loader().load();
                BpfObject second = loader().load()) {
            second.removeOwnPins();
            assertThat(kernel.pinned()).containsExactly(HASH.toString());
            first.removeOwnPins();
            first.removeOwnPins();
            assertThat(kernel.pinned()).isEmpty();
            second.map("hash").pin(HASH);
            try (BpfObject third = loader().load()) {
                third.removeOwnPins();
            }
            assertThat(kernel.pinned()).hasSize(1);
        }
    }

    /** A name of an object is what its author wants; it must not lead out of the directory. */
    @Test
    void aMapWithASlashInItsNameIsNotPinned() {
        byte[] object = new String(TestObjects.bytes("maps.bpf.o"), StandardCharsets.ISO_8859_1)
                .replace("hash\0", "h/sh\0")
                .getBytes(StandardCharsets.ISO_8859_1);
        BpfLoader loader = ScriptedLoads.loader(kernel, ObjectSpec.parse("slash.bpf.o", object))
                .pinDirectory(DIRECTORY)
                .map("h/sh", map -> map.withPinByName(true));
        assertThatThrownBy(loader::load)
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("slash.bpf.o: map \"h/sh\" can't be pinned in " + DIRECTORY);
        assertThat(kernel.commands(ObjectCommand.Get.class)).isEmpty();
    }

    private BpfLoader loader() {
        return loader("maps.bpf.o");
    }

    private BpfLoader loader(String object) {
        BpfLoader loader =
                ScriptedLoads.loader(kernel, ScriptedLoads.spec(object)).pinDirectory(DIRECTORY);
        return object.equals("maps.bpf.o") ? loader.map("hash", map -> map.withPinByName(true)) : loader;
    }

    private static MapSpec spec(String map) {
        return ScriptedLoads.spec("maps.bpf.o").map(map);
    }
}
