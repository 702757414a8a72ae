package io.bpf4j.test.usdt;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.CLANG;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.LIBBPF_HEADERS;
import static io.bpf4j.test.support.Requirement.NEWER_LIBBPF_HEADERS;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.support.Args12Event;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.LibbpfHeaders;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.usdt.UsdtLink;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Objects as users of libbpf have them: compiled against its own headers, once with specs of 208 bytes and once with
 * specs of 304, attached by bpf4j and reading the values that the target gave.
 */
@ParameterizedClass(name = "{0}")
@EnumSource(Strategy.class)
@Tag("usdt")
@Requires({BPF, GCC, SDT_H, CLANG, X86_64})
@ExtendWith(LeakCheck.class)
class UsdtLibbpfHeadersTest extends UsdtSuite {
    private static final long COOKIE = 0x1122334455667788L;
    private static final String SPECS = "__bpf_usdt_specs";

    UsdtLibbpfHeadersTest(Strategy strategy) {
        super(strategy);
    }

    /** The program asks for its numbers in the initial namespace, too. */
    private static BpfLoader ownNumbers(BpfLoader loader) throws IOException {
        Path namespace = Path.of("/proc/self/ns/pid");
        return loader.global("pidns_device", (Long) Files.getAttribute(namespace, "unix:dev"))
                .global("pidns_inode", (Long) Files.getAttribute(namespace, "unix:ino"));
    }

    private Args12Event fire(LibbpfHeaders headers, String flags, String probe, String command) throws IOException {
        ObjectSpec spec = ObjectSpec.read(headers.object());
        try (TargetProgram target = TargetProgram.start(flags);
                BpfObject object = ownNumbers(BpfLoader.of(spec))
                        .features(strategy.features())
                        .load();
                RingBuffer ring = RingBuffer.open(object.map("events"))) {
            assertThat(object.map(SPECS).valueSize()).isEqualTo(headers.haveIndexedArguments() ? 304 : 208);
            try (UsdtLink link =
                    attach(object, target.path(), "target:" + probe, in(target).withCookie(COOKIE))) {
                assertThat(link.siteCount()).isEqualTo(1);
                target.command(command);
            }
            assertNothingLeft(object);
            Args12Event event = events(ring).getFirst();
            assertThat(event.cookie()).isEqualTo(COOKIE);
            assertThat(event.pid()).isEqualTo(target.pid());
            return event;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"-O0", "-O2"})
    @Requires(LIBBPF_HEADERS)
    void theInstalledHeader(String flags) throws IOException {
        requireSizes(fire(LibbpfHeaders.INSTALLED, flags, "sizes", "sizes"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"-O0", "-O2"})
    @Requires(NEWER_LIBBPF_HEADERS)
    void theNewerHeader(String flags) throws IOException {
        requireSizes(fire(LibbpfHeaders.NEWER, flags, "sizes", "sizes"));
    }

    /** Base and index register, with and without a factor: what the newer layout was made for. */
    @Test
    @Requires(NEWER_LIBBPF_HEADERS)
    void indexedArgumentsWithTheNewerHeader() throws IOException {
        assertThat(LibbpfHeaders.NEWER.haveIndexedArguments()).isTrue();
        Args12Event event = fire(LibbpfHeaders.NEWER, "-O2", "forms", "forms");
        assertThat(event.results()).containsOnly(0L);
        assertThat(event.arguments().get(8)).as("4@8(%rcx,%rdx)").isEqualTo(0xfffffff0L);
        assertThat(event.arguments().get(9)).as("-8@-8(%rdi,%rdx)").isEqualTo(-102L);
    }

    /** The older layout has no number for them: they cost themselves, and not their neighbours. */
    @Test
    @Requires(LIBBPF_HEADERS)
    void indexedArgumentsWithTheInstalledHeader() throws IOException {
        boolean known = LibbpfHeaders.INSTALLED.haveIndexedArguments();
        Args12Event event = fire(LibbpfHeaders.INSTALLED, "-O2", "forms", "forms");
        assertThat(event.results().subList(0, 8)).containsOnly(0L);
        assertThat(event.results().subList(8, 10)).containsOnly(known ? 0L : Args12Event.EINVAL);
        assertThat(event.arguments().get(7)).isEqualTo(-9L);
        assertThat(event.arguments().get(10)).isEqualTo(0xabcdef0123456789L);
        assertThat(event.arguments().get(11)).isEqualTo(-4L);
    }
}
