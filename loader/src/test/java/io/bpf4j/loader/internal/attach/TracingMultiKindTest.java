package io.bpf4j.loader.internal.attach;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.ScriptedLoads;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.internal.tracefs.TraceFs;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.TracingMulti;
import io.bpf4j.sys.ScriptedHost;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which functions a name stands for. */
class TracingMultiKindTest {
    private static final BtfBuilder TYPES = BtfBuilder.create();
    private static final int INT = TYPES.integer("int", 4, BtfType.Int.SIGNED);
    private static final int LONG128 = TYPES.integer("__int128", 16, 0);
    private static final int POINTER = TYPES.pointer(0);
    private static final int PAIR = TYPES.struct("pair", 16);
    private static final int LARGE = TYPES.struct("large", 24);
    private static final int ALIAS = TYPES.typedef("pair_t", TYPES.add(new BtfType.Const(PAIR)));

    private static final int READ = function("vfs_read", INT, POINTER, INT);
    private static final int WRITE = function("vfs_write", 0, ALIAS);
    private static final int OPEN = function("vfs_open", POINTER);
    private static final int TWICE = function("vfs_twice", INT, INT);
    private static final int UNTRACED = function("vfs_untraced", INT, INT);

    static {
        function("vfs_twice", INT, POINTER);
        function("vfs_printf", INT, POINTER, 0);
        function("vfs_large", INT, LARGE);
        function("vfs_returns_pair", PAIR);
        function("vfs_returns_wide", LONG128);
        function("vfs_many", INT, INT, INT, INT, INT, INT, INT, INT, INT, INT, INT, INT, INT, INT);
    }

    private static final Btf BTF = TYPES.build("vmlinux", ByteOrder.nativeOrder());

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final Fd program = kernel.newFd("program \"p\"");

    @TempDir
    Path root;

    private static int function(String name, int returned, int... arguments) {
        List<BtfType.Parameter> parameters = java.util.Arrays.stream(arguments)
                .mapToObj(type -> new BtfType.Parameter("", type))
                .toList();
        return TYPES.add(
                new BtfType.Func(name, TYPES.add(new BtfType.FuncProto(returned, parameters)), BtfType.Linkage.STATIC));
    }

    private Link attach(AttachType type, TracingMulti target) {
        AttachRequest request = new AttachRequest(
                kernel.host(), ScriptedLoads.everything(), program, "p to " + target.description(), Optional.of(type));
        return new TracingMultiKind(
                        target,
                        module -> module.isEmpty() || module.equals("xfs") ? Optional.of(BTF) : Optional.empty(),
                        TraceFs.of(ScriptedHost.of(kernel, root)))
                .attach(request);
    }

    private static TracingMulti functions(String... names) {
        return TracingMulti.of(names);
    }

    private int[] asked() {
        LinkCommand.Create create = kernel.commands(LinkCommand.Create.class).getLast();
        assertThat(create.target()).isNull();
        return ((LinkCommand.Details.TracingMulti) create.details()).functions();
    }

    private void traceable(String... names) throws IOException {
        Path tracefs = root.resolve("sys/kernel/tracing");
        Files.createDirectories(tracefs.resolve("events"));
        Files.writeString(tracefs.resolve("available_filter_functions"), String.join("\n", names) + "\n");
    }

    @Test
    void namesAreIdsInTheirOrderWithACookieEach() {
        try (Link _ = attach(
                AttachType.TRACE_FEXIT_MULTI,
                TracingMulti.of("vfs_write", "vmlinux:vfs_read").withCookies(7, 8))) {
            assertThat(asked()).containsExactly(WRITE, READ);
            LinkCommand.Create create =
                    kernel.commands(LinkCommand.Create.class).getLast();
            assertThat(create.attachType()).isEqualTo(60);
            assertThat(((LinkCommand.Details.TracingMulti) create.details()).cookies())
                    .containsExactly(7, 8);
        }
        assertThat(kernel.open()).containsExactly("program \"p\"");
    }

    @Test
    void aPatternIsWhatTheTracerListsAndTheTrampolineCanPassOn() throws IOException {
        traceable("vfs_read", "vfs_write", "vfs_open", "vfs_twice", "vfs_printf", "vfs_large", "vfs_many", "other");
        try (Link _ = attach(AttachType.TRACE_FENTRY_MULTI, functions("vfs_*"))) {
            assertThat(asked()).containsExactlyInAnyOrder(READ, WRITE, OPEN);
        }
        try (Link _ = attach(AttachType.TRACE_FENTRY_MULTI, functions("vfs_?pen", "vfs_twice"))) {
            assertThat(asked()).containsExactlyInAnyOrder(OPEN, TWICE);
        }
        assertThatThrownBy(() -> attach(AttachType.TRACE_FENTRY_MULTI, functions("xfs_*")))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining("no function that matches the name");
    }

    @Test
    void withoutTracefsTheKernelDecides() {
        kernel.fail(FileCommand.DetachedMount.class, Errno.EPERM);
        try (Link _ = attach(AttachType.TRACE_FSESSION_MULTI, functions("vfs_[wr]*", "vfs_unt*"))) {
            assertThat(asked()).containsExactly(UNTRACED);
        }
    }

    @Test
    void whatCantBeIsRefusedBeforeTheKernelIsAsked() {
        assertRefused("no function \"vfs_printf\"", AttachType.TRACE_FENTRY_MULTI, functions("vfs_printf"));
        assertRefused("named twice", AttachType.TRACE_FENTRY_MULTI, functions("vfs_read", "vfs_read"));
        assertRefused(
                "do not all belong to one module",
                AttachType.TRACE_FENTRY_MULTI,
                functions("xfs:vfs_read", "vfs_write"));
        assertRefused("\"ext4\" is not loaded", AttachType.TRACE_FENTRY_MULTI, functions("ext4:vfs_read"));
        assertRefused("loaded for one function", AttachType.TRACE_FENTRY, functions("vfs_read"));
        assertRefused("no function is named", AttachType.TRACE_FENTRY_MULTI, functions());
        assertRefused(
                "can't have a cookie for each",
                AttachType.TRACE_FENTRY_MULTI,
                TracingMulti.of("vfs_*").withCookies(1));
        assertThat(kernel.commands(LinkCommand.Create.class)).isEmpty();
    }

    private void assertRefused(String why, AttachType type, TracingMulti target) {
        assertThatThrownBy(() -> attach(type, target))
                .isInstanceOf(AttachException.class)
                .hasMessageStartingWith("attach p to ")
                .hasMessageContaining(why);
    }
}
