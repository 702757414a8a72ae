package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.TypedValue;
import io.bpf4j.elf.ByteView;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Links;
import io.bpf4j.loader.Maps;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.Types;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.link.StructOpsLink;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.CType;
import io.bpf4j.loader.spec.StructOpsSpec;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.BpfFsMount;
import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Structs of functions that the kernel calls, by the example of congestion controls for TCP. */
@Requires(Requirement.STRUCT_OPS_LINK)
@ExtendWith(LeakCheck.class)
class StructOpsOnKernelTest {
    /** The kernel has one list of congestion controls: no other test run may use these names, of 15 bytes at most. */
    private static final String LINKED = CongestionControl.newName();

    private static final String DIRECT = CongestionControl.newName();
    private static final String RENAMED = CongestionControl.newName();
    private static final String FUTURE = CongestionControl.newName();

    /** So that the next test may use them. */
    @AfterEach
    void awaitFreeNames() throws Exception {
        awaitGone(LINKED, DIRECT, RENAMED, FUTURE);
    }

    @Test
    void theKernelCallsTheFunctionsWhileTheLinkIsThere() throws Exception {
        try (BpfObject object = load("first")) {
            try (Link link = object.attachStructOps("first")) {
                assertThat(available()).contains(LINKED);
                assertThat(transfer(LINKED)).isEqualTo(LINKED);
                assertThat(Bpf.u64(object, "sockets")).isPositive();
                assertThat(Bpf.u64(object, "first_calls")).isPositive();
                assertThat(link.info().detail())
                        .isEqualTo(new LinkDetail.StructOps(object.map("first").id()));
            }
            awaitGone(LINKED);
            assertThat(transfer(LINKED)).isEqualTo("TCP_CONGESTION: No such file or directory");
        }
    }

    @Test
    void theValuesOfAForeignMapAreShownByTheKernelsTypes() {
        try (BpfObject object = load("first");
                BpfMap map = Maps.byId(object.structOps("first").id())) {
            CType type = Types.ofValue(map).orElseThrow();
            byte[] value = map.lookup(Bpf.key(0)).orElseThrow();

            assertThat(type.btf().name(type.id())).isEqualTo("bpf_struct_ops_tcp_congestion_ops");
            assertThat(TypedValue.text(type.btf(), type.id(), ByteView.of("value", value, ByteOrder.nativeOrder())))
                    .startsWith("{.common = {")
                    .contains(".name = \"" + LINKED + "\"");
        }
    }

    @Test
    void anUpdateSwapsTheFunctions() throws Exception {
        try (BpfObject object = load("first", "second")) {
            try (StructOpsLink link = Links.attach(object.structOps("first"))) {
                transfer(LINKED);
                assertThat(Bpf.u64(object, "second_calls")).isZero();
                link.update(object.structOps("second"));
                transfer(LINKED);
                assertThat(Bpf.u64(object, "second_calls")).isPositive();
                assertThat(link.info().detail())
                        .isEqualTo(new LinkDetail.StructOps(object.map("second").id()));
            }
        }
    }

    @Test
    @Requires(Requirement.STRUCT_OPS_ASSOCIATION)
    void aProgramKeepsToOneStruct() throws Exception {
        try (BpfObject object = load("first", "second");
                BpfObject other =
                        Bpf.load("streams.bpf.o", loader -> loader.program("say", p -> p.withAutoload(true)))) {
            Program program = other.program("say");
            program.associate(object.structOps("first"));
            program.associate(object.structOps("first"));
            assertThatThrownBy(() -> program.associate(object.structOps("second")))
                    .isInstanceOfSatisfying(
                            SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
            assertThatThrownBy(() -> object.program("on_init").associate(object.structOps("first")))
                    .isInstanceOfSatisfying(
                            SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
        }
    }

    @Test
    void aLinkOfOneMapComesAndGoes() throws Exception {
        try (BpfObject object = load("first")) {
            for (int i = 0; i < 2; i++) {
                object.attachStructOps("first").close();
                awaitGone(LINKED);
            }
            try (Link link = object.attachStructOps("first")) {
                link.detach();
                awaitGone(LINKED);
            }
        }
    }

    @Test
    void aPinKeepsItAttached() throws Exception {
        try (BpfFsMount bpffs = BpfFsMount.mount()) {
            Path pin = bpffs.path("congestion");
            try (BpfObject object = load("first");
                    Link link = object.attachStructOps("first")) {
                link.pin(pin);
            }
            assertThat(transfer(LINKED)).isEqualTo(LINKED);
            try (Link link = Links.pinned(pin)) {
                assertThat(link).isInstanceOf(StructOpsLink.class);
                link.unpin(pin);
            }
            awaitGone(LINKED);
        }
    }

    @Test
    void oneWithoutALinkIsInUseUntilItIsClosed() throws Exception {
        try (BpfObject object = load("direct")) {
            try (Link link = object.attachStructOps("direct")) {
                assertThat(transfer(DIRECT)).isEqualTo(DIRECT);
                assertThat(link).isNotInstanceOf(StructOpsLink.class);
            }
            awaitGone(DIRECT);
            assertThat(Bpf.u64(object, "first_calls")).isPositive();
        }
    }

    @Test
    void attachingTheObjectAttachesItsStructs() throws Exception {
        try (BpfObject object = load("first", "direct")) {
            try (LinkGroup all = object.attachAll()) {
                assertThat(all.links()).hasSize(2);
                assertThat(available()).contains(LINKED, DIRECT);
            }
            awaitGone(LINKED, DIRECT);
        }
    }

    @Test
    void oneThatIsNotToBeAttachedIsLeft() throws Exception {
        try (BpfObject object = load(
                        loader -> loader.structOps("first", first -> made(first).withAutoattach(false)));
                LinkGroup all = object.attachAll()) {
            assertThat(all.links()).isEmpty();
            assertThat(available()).doesNotContain(LINKED);
        }
    }

    @Test
    void twoOfOneNameAreRefusedAndTheFirstGoesOn() throws Exception {
        try (BpfObject object = load("first", "second");
                Link link = object.attachStructOps("first")) {
            assertThatThrownBy(() -> object.attachStructOps("second"))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("\"second\"")
                    .hasMessageContaining("a struct_ops with this name is already registered");
            assertThatThrownBy(object::attachAll).isInstanceOf(AttachException.class);
            assertThat(link.isClosed()).isFalse();
            assertThat(transfer(LINKED)).isEqualTo(LINKED);
        }
    }

    @Test
    void valuesAndFunctionsMayBeChangedBeforeTheLoad() throws Exception {
        UnaryOperator<StructOpsSpec> edit = spec -> made(spec)
                .withText("name", RENAMED)
                .withFunction("cong_avoid", "second_avoid")
                .withoutFunction("init")
                .withoutFunction("release");
        try (BpfObject object = load(loader -> loader.structOps("first", edit));
                Link link = object.attachStructOps("first")) {
            assertThat(link.description()).contains("first");
            assertThat(object.programs()).extracting(p -> p.name()).doesNotContain("on_init", "first_avoid");
            assertThat(transfer(RENAMED)).isEqualTo(RENAMED);
            assertThat(Bpf.u64(object, "second_calls")).isPositive();
            assertThat(Bpf.u64(object, "sockets")).isZero();
        }
    }

    @Test
    void aMemberThatTheKernelLacksMayBeMissingOnlyIfItIsZero() throws Exception {
        assertThatThrownBy(() -> load("future"))
                .isInstanceOf(RelocationException.class)
                .hasMessage(
                        "struct_ops variable \"future\": member \"bpf4j_predict\" of struct"
                                + " tcp_congestion_ops___future is unknown to this kernel, but the object has program"
                                + " \"predict\" for it; if the object works without it, leave the function out before the load");
        assertThatThrownBy(() -> load(loader -> loader.structOps(
                        "future",
                        spec -> made(spec).withoutFunction("bpf4j_predict").withValue("bpf4j_horizon", 7))))
                .isInstanceOf(RelocationException.class)
                .hasMessageContaining("\"bpf4j_horizon\"")
                .hasMessageContaining("is unknown to this kernel, but not 0 in the object");
        try (BpfObject object = load(
                        loader -> loader.structOps("future", spec -> made(spec).withoutFunction("bpf4j_predict")));
                Link link = object.attachStructOps("future")) {
            assertThat(link.isClosed()).isFalse();
            assertThat(transfer(FUTURE)).isEqualTo(FUTURE);
        }
    }

    @Test
    void whatTheKernelCantDoWithoutIsAsked() {
        try (BpfObject object =
                load(loader -> loader.structOps("first", spec -> made(spec).withoutFunction("ssthresh")))) {
            assertThatThrownBy(() -> object.attachStructOps("first"))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("EINVAL")
                    .hasMessageContaining("a function that the kernel requires is missing");
        }
    }

    @Test
    void aProgramThatWasSkippedIsNamed() {
        try (BpfObject object = load(loader -> loader.structOps("first", StructOpsOnKernelTest::made)
                .program("ssthresh", p -> p.withAutoload(false)))) {
            assertThatThrownBy(() -> object.attachStructOps("first"))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("member \"ssthresh\" is program \"ssthresh\", which was not loaded");
        }
    }

    @Test
    void aProgramOfNoStructIsExplained() {
        assertThatThrownBy(() -> load(loader -> loader.program("predict", p -> p.withAutoload(true))))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("program \"predict\"")
                .hasMessageContaining("is used by no struct_ops variable that is created");
    }

    /** Makes a struct, under a name of this test run's own. */
    private static StructOpsSpec made(StructOpsSpec spec) {
        String name = switch (spec.name()) {
            case "first", "second" -> LINKED;
            case "direct" -> DIRECT;
            case "future" -> FUTURE;
            default -> throw new AssertionError(spec.name());
        };
        return spec.withAutocreate(true).withText("name", name);
    }

    private static BpfObject load(String... made) {
        return load(loader -> {
            for (String name : made) {
                loader.structOps(name, StructOpsOnKernelTest::made);
            }
            return loader;
        });
    }

    private static BpfObject load(UnaryOperator<BpfLoader> configuration) {
        return Bpf.load("struct_ops.bpf.o", configuration);
    }

    private static List<String> available() throws IOException {
        return List.of(Files.readString(Path.of("/proc/sys/net/ipv4/tcp_available_congestion_control"))
                .strip()
                .split(" "));
    }

    /** A link that was closed may be attached a moment longer, as {@link Bpf#awaitNotCounted} describes it. */
    private static void awaitGone(String... names) throws IOException, InterruptedException {
        List<String> gone = List.of(names);
        Await.until("none of " + gone, StructOpsOnKernelTest::available, there -> Collections.disjoint(there, gone));
    }

    /** The congestion control that a connection had, or what failed. */
    private static String transfer(String name) throws IOException, InterruptedException {
        Path program = CPrograms.compile("congestion", "-O2");
        return Commands.run(List.of(program.toString(), name)).out().strip();
    }
}
