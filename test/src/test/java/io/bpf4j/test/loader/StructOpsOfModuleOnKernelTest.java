package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.spec.StructOpsSpec;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A struct of functions that a module has: what implements it answers whoever reads a file of the module's. */
@Requires(Requirement.STRUCT_OPS_MODULE)
@ExtendWith(LeakCheck.class)
class StructOpsOfModuleOnKernelTest {
    private static String answer() throws IOException {
        return Files.readString(Path.of("/sys/module/bpf4j_ops/parameters/answer"))
                .strip();
    }

    /** Whoever lists all links of the machine holds each for a moment, so the close may not be the end of the link. */
    private static void awaitUnregistered() throws Exception {
        Await.until("the module's answer without a struct_ops", StructOpsOfModuleOnKernelTest::answer, "none"::equals);
    }

    private static BpfObject load(String variable, UnaryOperator<StructOpsSpec> edit) {
        return Bpf.load(
                "struct_ops_module.bpf.o",
                loader -> loader.structOps(variable, each -> edit.apply(each.withAutocreate(true))));
    }

    @Test
    void theModuleCallsTheFunctionsWhileTheLinkIsThere() throws Exception {
        assertThat(answer()).isEqualTo("none");
        try (BpfObject object = load("linked", UnaryOperator.identity())) {
            for (int i = 1; i <= 2; i++) {
                try (Link link = object.attachStructOps("linked")) {
                    assertThat(answer()).isEqualTo("42");
                    assertThat(link.info().detail())
                            .isEqualTo(new LinkDetail.StructOps(
                                    object.map("linked").id()));
                }
                awaitUnregistered();
                assertThat(Bpf.u64(object, "asked")).isEqualTo(i);
                assertThat(Bpf.u64(object, "forgotten")).isEqualTo(i);
            }
        }
    }

    @Test
    void withoutALinkItIsInUseUntilItIsClosed() throws Exception {
        try (BpfObject object = load("direct", direct -> direct.withValue("offset", 1))) {
            try (Link attached = object.attachStructOps("direct")) {
                assertThat(answer()).isEqualTo("401");
                assertThat(attached.isClosed()).isFalse();
            }
            awaitUnregistered();
        }
    }

    @Test
    void theModulesRefusalIsTold() throws Exception {
        try (BpfObject object = load("linked", UnaryOperator.identity());
                BpfObject other = load("direct", UnaryOperator.identity());
                Link first = object.attachStructOps("linked")) {
            assertThatThrownBy(() -> other.attachStructOps("direct"))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("\"direct\"")
                    .hasMessageContaining("a struct_ops with this name is already registered");
            assertThat(first.isClosed()).isFalse();
            assertThat(answer()).isEqualTo("42");
        }
    }
}
