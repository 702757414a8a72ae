package io.bpf4j.test.loader;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.test.support.Requirement.BPF;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.insn.Assembler;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Links;
import io.bpf4j.loader.Maps;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.Programs;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.MapAccess;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.Descriptor;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.InheritedMapMain;
import io.bpf4j.test.support.Java;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.LibcCalls;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Descriptors that go out to other code, and that come in from it. */
@Requires(BPF)
@ExtendWith(LeakCheck.class)
@Timeout(300)
class DescriptorsOnKernelTest {
    private static final MapSpec HASH = MapSpec.of("shared", MapType.HASH, 4, 8, 16);

    private static BpfObject returns(String section, int value) {
        FunctionSpec function =
                FunctionSpec.of("returns", Assembler.create().mov(R0, value).exit());
        return BpfLoader.of(ObjectSpec.of("test").withProgram(ProgramSpec.of(section, function)))
                .load();
    }

    private static boolean isOpen(int number) {
        return Files.isSymbolicLink(Path.of("/proc/self/fd/" + number));
    }

    /** Whether a descriptor is one of a map. Once it is closed, any thread of the JVM may get its number for a file. */
    private static boolean isOfMap(int number) throws IOException {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd/" + number))
                    .toString()
                    .equals("anon_inode:bpf-map");
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /** A socket filter returns how many bytes of a message the socket receives. */
    @Test
    void aSocketFilterIsAttachedByTheDescriptorOfItsProgram() {
        int[] sockets = LibcCalls.socketPair();
        try {
            try (BpfObject object = returns("socket", 5);
                    Descriptor filter = object.program("returns").descriptor()) {
                LibcCalls.attachFilter(sockets[1], filter.number());
            }
            // The socket holds the program.
            LibcCalls.send(sockets[0], new byte[20]);
            assertThat(LibcCalls.receive(sockets[1])).isEqualTo(5);
            LibcCalls.send(sockets[1], new byte[20]);
            assertThat(LibcCalls.receive(sockets[0])).isEqualTo(20);
        } finally {
            LibcCalls.close(sockets[0]);
            LibcCalls.close(sockets[1]);
        }
    }

    @Test
    void aProcessInheritsAMapAndTakesItOver() {
        try (BpfMap map = Maps.create(HASH);
                Descriptor descriptor = map.descriptor()) {
            String number = Integer.toString(descriptor.number());
            List<String> look = List.of("sh", "-c", "test -h /proc/self/fd/" + number);
            assertThat(LibcCalls.run(look)).as("closed by exec").isOne();
            descriptor.makeInheritable();
            assertThat(LibcCalls.run(look)).isZero();
            List<String> command = new ArrayList<>(Java.command(
                    "-XX:TieredStopAtLevel=1",
                    "-Xmx128m",
                    "--enable-native-access=ALL-UNNAMED",
                    "-cp",
                    System.getProperty("java.class.path"),
                    InheritedMapMain.class.getName(),
                    number));
            assertThat(LibcCalls.run(command)).isZero();
            assertThat(map.lookup(Bpf.key(1))).contains("shared\0\0".getBytes(StandardCharsets.UTF_8));
        }
    }

    @Test
    void aDescriptorIsItsOwn() throws IOException {
        BpfMap map = Maps.create(HASH);
        Descriptor descriptor = map.descriptor();
        map.close();
        int number = descriptor.number();
        assertThat(isOfMap(number)).isTrue();
        descriptor.close();
        descriptor.close();
        assertThat(descriptor.isClosed()).isTrue();
        assertThat(isOfMap(number)).isFalse();
        assertThatThrownBy(descriptor::number).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(descriptor::makeInheritable).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(map::descriptor).isInstanceOf(IllegalStateException.class);
    }

    /** A number that belongs to nobody but the caller. */
    private static int number(Descriptor descriptor) {
        try (descriptor) {
            return LibcCalls.dup(descriptor.number());
        }
    }

    @Test
    void whatComesInWorksAsWhatWasOpenedHere() throws Exception {
        try (BpfMap map = Maps.create(HASH);
                BpfObject object = returns("raw_tp/sys_enter", 7)) {
            int number = number(map.descriptor());
            try (BpfMap taken = Maps.takeOver(number)) {
                assertThat(isOfMap(number)).as("closed").isFalse();
                taken.update(Bpf.key(1), new byte[8]);
                assertThat(map.lookup(Bpf.key(1))).isPresent();
                assertThat(taken.id()).isEqualTo(map.id());
                assertThat(taken.name()).isEqualTo("shared");
            }
            try (BpfMap reader = Maps.byId(map.id(), MapAccess.READ_ONLY);
                    BpfMap taken = Maps.takeOver(number(reader.descriptor()))) {
                assertThat(taken.lookup(Bpf.key(1))).isPresent();
                assertThatThrownBy(() -> taken.delete(Bpf.key(1))).hasMessageContaining("MapAccess.READ_ONLY");
            }
            try (Program program =
                    Programs.takeOver(number(object.program("returns").descriptor()))) {
                assertThat(program.name()).isEqualTo("returns");
                assertThat(program.test(TestRun.once()).returned()).isEqualTo(7);
            }
            Link link = object.program("returns").attach();
            int id = link.info().id();
            try (Link taken = Links.takeOver(number(link.descriptor()))) {
                link.close();
                assertThat(taken.info().id()).isEqualTo(id);
                assertThat(Links.ids()).as("still attached").contains(id);
            }
            Await.until("no link " + id, () -> !Links.ids().contains(id));
        }
    }

    @Test
    void whatIsOfAnotherKindStaysTheCallers() {
        try (BpfMap map = Maps.create(HASH);
                BpfObject object = returns("raw_tp/sys_enter", 7);
                LinkGroup none = LinkGroup.inSequence("nothing")) {
            int aMap = number(map.descriptor());
            int aProgram = number(object.program("returns").descriptor());
            int[] sockets = LibcCalls.socketPair();
            refuses(Programs::takeOver, aMap, "is not a BPF program, but anon_inode:bpf-map");
            refuses(Links::takeOver, aMap, "is not a BPF link, but anon_inode:bpf-map");
            refuses(Maps::takeOver, aProgram, "is not a BPF map, but anon_inode:bpf-prog");
            refuses(Maps::takeOver, sockets[0], "is not a BPF map, but socket:[");
            for (int number : new int[] {aMap, aProgram, sockets[0], sockets[1]}) {
                LibcCalls.close(number);
            }
            assertThatThrownBy(() -> Maps.takeOver(1_000_000))
                    .isInstanceOfSatisfying(
                            SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBADF))
                    .hasMessageContaining("no open descriptor 1000000");
            assertThatThrownBy(() -> Maps.takeOver(-1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("descriptor -1 can't be a map: it is negative");
            assertThatThrownBy(none::descriptor)
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("can't be handed out by a descriptor");
        }
    }

    private static void refuses(IntFunction<?> taking, int number, String message) {
        assertThatThrownBy(() -> taking.apply(number))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("descriptor " + number + " " + message)
                .hasMessageEndingWith("; it still belongs to the caller");
        assertThat(isOpen(number)).isTrue();
    }
}
