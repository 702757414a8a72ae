package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPFFS;
import static io.bpf4j.test.support.Requirement.BPFTOOL;
import static io.bpf4j.test.support.Requirement.KERNEL_BTF;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.bpf4j.elf.internal.text.FileName;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Maps;
import io.bpf4j.loader.Pin;
import io.bpf4j.loader.Pins;
import io.bpf4j.loader.link.Iter;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Command;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.BpfFsMount;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Mount;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Lists a BPF file system, which each test mounts for itself. */
@Requires({BPF, BPFFS})
@ExtendWith(LeakCheck.class)
@Timeout(300)
class PinsOnKernelTest {
    private BpfFsMount mount;
    private BpfMap map;

    @BeforeEach
    void mountOne() {
        mount = BpfFsMount.mount();
        map = Maps.create(MapSpec.of("events", MapType.HASH, 4, 8, 16));
    }

    @AfterEach
    void unmount() {
        map.close();
        mount.close();
    }

    /** Without maps.debug and progs.debug, which some kernels pin themselves. */
    private static List<Pin> own(List<Pin> pins) {
        return pins.stream().filter(pin -> !pin.path().toString().contains(".")).toList();
    }

    private List<Pin> listed() {
        return own(Pins.in(mount.directory()));
    }

    private Path directory(String name) throws IOException {
        return Files.createDirectory(mount.path(name));
    }

    @Test
    @Requires(KERNEL_BTF)
    void eachKindWithItsIdAndName() throws IOException {
        Path inner = Files.createDirectory(directory("outer").resolve("inner"));
        try (BpfObject object = Bpf.load("hooks.bpf.o", l -> l.program("each_task", p -> p.withAutoload(true)));
                Link link = object.program("each_task").attach(Iter.all())) {
            map.pin(inner.resolve("map"));
            link.pin(mount.path("outer").resolve("link"));
            object.program("each_task").pin(mount.path("program"));
            assertThat(listed())
                    .containsExactly(
                            pin(
                                    mount.path("program"),
                                    Pin.Kind.PROGRAM,
                                    object.program("each_task").id(),
                                    "each_task"),
                            pin(
                                    mount.path("outer").resolve("link"),
                                    Pin.Kind.LINK,
                                    link.info().id(),
                                    ""),
                            pin(inner.resolve("map"), Pin.Kind.MAP, map.id(), "events"));
            assertThat(Pins.in(inner)).hasSize(1);
        }
    }

    private static Pin pin(Path path, Pin.Kind kind, int id, String name) {
        return new Pin(path, Optional.of(kind), id, name, Optional.of(new Pin.Owner(0, 0, 0600)), Optional.empty());
    }

    @Test
    void whoseItIs() throws IOException {
        Path pinned = mount.path("map");
        map.pin(pinned);
        Files.setAttribute(pinned, "unix:uid", 1234);
        Files.setAttribute(pinned, "unix:gid", 56);
        Files.setPosixFilePermissions(pinned, PosixFilePermissions.fromString("rw-r-----"));
        assertThat(listed())
                .singleElement()
                .extracting(Pin::owner)
                .isEqualTo(Optional.of(new Pin.Owner(1234, 56, 0640)));
    }

    @Test
    @Requires(BPFTOOL)
    void asBpftoolShowsThem() throws IOException, InterruptedException {
        map.pin(mount.path("one"));
        map.pin(directory("two").resolve("three"));
        Set<String> pins = listed().stream().map(pin -> pin.path().toString()).collect(Collectors.toSet());
        assertThat(pins).hasSize(2);
        // It looks through all BPF file systems, and not any further once one is unmounted meanwhile.
        Set<?> pinned = Await.until("both pins", this::pinnedByBpftool, shown -> shown.size() >= 2);
        assertThat(pinned).isEqualTo(pins);
    }

    /** Where the map is pinned, as far as bpftool sees it; it says nothing of pins if it sees none. */
    private Set<?> pinnedByBpftool() throws IOException, InterruptedException {
        String shown =
                Commands.check(List.of("bpftool", "--json", "-f", "map", "show", "id", Integer.toString(map.id())));
        return Json.object(shown).get("pinned") instanceof List<?> paths ? Set.copyOf(paths) : Set.of();
    }

    @Test
    void namesAreBytes() {
        Path name =
                FileName.of(new byte[] {'a', (byte) 0xff, '\n', (byte) 0xe4}).below(mount.directory());
        map.pin(name);
        List<Pin> pins = listed();
        assertThat(pins).hasSize(1);
        assertThat(FileName.of(pins.getFirst().path())).isEqualTo(FileName.of(name));
        try (BpfMap same = Maps.pinned(pins.getFirst().path())) {
            assertThat(same.id()).isEqualTo(map.id());
        }
    }

    @Test
    void theListingStaysInTheFileSystem(@TempDir Path elsewhere) throws IOException {
        map.pin(mount.path("map"));
        Files.createSymbolicLink(mount.path("same"), mount.path("map"));
        Files.createSymbolicLink(mount.path("out"), elsewhere);
        Files.createSymbolicLink(mount.path("round"), mount.directory());
        Path covered = directory("covered");
        map.pin(covered.resolve("hidden"));
        try (Mount other = Mount.of("tmpfs", "", covered)) {
            Files.writeString(other.directory().resolve("file"), "no pin");
            assertThat(listed()).extracting(Pin::path).containsExactly(mount.path("map"));
        }
        assertThat(listed()).extracting(Pin::path).containsExactly(mount.path("map"), covered.resolve("hidden"));
        try (Mount _ = Mount.bind(mount.directory(), covered)) {
            assertThat(listed()).extracting(Pin::path).containsExactly(mount.path("map"));
        }
    }

    /** The running kernel, but a test can act before each command. */
    private static Host host(Consumer<Command<?>> before) {
        Kernel real = Kernel.of(Host.running());
        return Host.running().with(Kernel.class, new Kernel() {
            @Override
            public <R> R execute(Command<R> command) {
                before.accept(command);
                return real.execute(command);
            }
        });
    }

    @Test
    void pinsThatAreRemovedMeanwhileAreLeftOut() throws IOException {
        map.pin(mount.path("a"));
        map.pin(mount.path("b"));
        Path c = directory("c");
        Host host = host(command -> {
            if (command instanceof FileCommand.Open open && open.path().endsWith("a")) {
                map.unpin(mount.path("a"));
            } else if (command instanceof FileCommand.Open open && open.path().endsWith("c")) {
                boolean _ = c.toFile().delete();
            }
        });
        assertThat(own(Pins.in(host, mount.directory()))).extracting(Pin::path).containsExactly(mount.path("b"));
    }

    /** Root may open all pins, so the test makes the refusal. */
    @Test
    void aRefusedPinDoesNotEndTheListing() {
        map.pin(mount.path("a"));
        map.pin(mount.path("b"));
        boolean[] first = {true};
        Host host = host(command -> {
            if (command instanceof ObjectCommand.Get get && first[0]) {
                first[0] = false;
                throw new SyscallException(get.call(), Errno.EACCES.number(), null);
            }
        });
        assertThat(own(Pins.in(host, mount.directory())))
                .extracting(Pin::path, Pin::kind, Pin::id)
                .containsExactly(
                        tuple(mount.path("a"), Optional.empty(), 0),
                        tuple(mount.path("b"), Optional.of(Pin.Kind.MAP), map.id()));
        first[0] = true;
        assertThat(own(Pins.in(host, mount.directory())).getFirst().problem()).hasValueSatisfying(problem -> {
            assertThat(problem.subject()).isEqualTo(mount.path("a").toString());
            assertThat(problem.message()).contains("can't be opened: EACCES");
        });
    }

    @Test
    void directoriesAreListedToALimitedDepth() throws IOException {
        Path deep = mount.directory();
        for (int level = 0; level < 70; level++) {
            deep = Files.createDirectory(deep.resolve("d"));
        }
        map.pin(deep.resolve("map"));
        map.pin(mount.path("map"));
        List<Pin> pins = listed();
        assertThat(pins).hasSize(2);
        assertThat(pins.getFirst().path()).isEqualTo(mount.path("map"));
        assertThat(pins.getLast().kind()).isEmpty();
        assertThat(pins.getLast().path().getNameCount())
                .isEqualTo(mount.directory().getNameCount() + 64);
        assertThat(pins.getLast().problem())
                .hasValueSatisfying(p -> assertThat(p.message()).contains("below 64 others"));
    }

    @Test
    void longPathsAreFewer() throws IOException {
        Path deep = mount.directory();
        for (int level = 0; level < 14; level++) {
            deep = Files.createDirectory(deep.resolve("d".repeat(255)));
        }
        for (int i = 0; i < 8500; i++) {
            Files.createDirectory(deep.resolve("n".repeat(250) + i));
        }
        List<Pin> pins = listed();
        assertThat(pins).hasSize(1);
        assertThat(pins.getFirst().path()).isEqualTo(deep);
        assertThat(pins.getFirst().problem())
                .hasValueSatisfying(p -> assertThat(p.message()).startsWith("names after the first 8"));
    }

    /** The list of mounts has two of that name, and the lower one first. */
    @Test
    void theUpperOfTwoMountsCounts() throws IOException {
        try (Mount upper = Mount.of("tmpfs", "", mount.directory())) {
            assertThatThrownBy(() -> Pins.in(upper.directory()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("not in a BPF file system");
            try (Mount _ = Mount.of("bpf", "", mount.directory())) {
                map.pin(mount.path("map"));
                assertThat(listed()).extracting(Pin::path).containsExactly(mount.path("map"));
            }
        }
    }

    @Test
    void otherFileSystemsAreRefused(@TempDir Path elsewhere) {
        map.pin(mount.path("map"));
        assertThatThrownBy(() -> Pins.in(elsewhere))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(elsewhere.toString())
                .hasMessageContaining("not in a BPF file system: mount -t bpf");
        assertThatThrownBy(() -> Pins.in(mount.path("map")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not a directory");
        assertThatThrownBy(() -> Pins.in(mount.path("nothing")))
                .isInstanceOfSatisfying(
                        SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOENT))
                .hasMessageContaining("nothing");
    }
}
