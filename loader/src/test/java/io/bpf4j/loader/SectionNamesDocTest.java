package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.SectionKind;
import io.bpf4j.loader.spec.Specs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * That docs/section-names.md is what the code says. To write it again after a change of the table:
 *
 * <pre>{@code
 * ./mvnw -pl loader -am test -Dtest=SectionNamesDocTest -Dsurefire.failIfNoSpecifiedTests=false
 * -Dio.bpf4j.docs.write=true }</pre>
 */
class SectionNamesDocTest {
    /** Surefire runs with the module's directory as its own. */
    private static final Path DOC = Path.of("..", "docs", "section-names.md");

    @Test
    void thePageIsWhatTheCodeSays() throws IOException {
        if (Boolean.getBoolean("io.bpf4j.docs.write")) {
            Files.writeString(DOC, SectionNamesDoc.text());
        }

        assertThat(Files.readString(DOC))
                .as("%s differs from the table in SectionKinds; write it with -Dio.bpf4j.docs.write=true", DOC)
                .isEqualTo(SectionNamesDoc.text());
    }

    /** The table tells users what is attached by name, and the readers of its rows do it: they have to agree. */
    @Test
    void whatTheTableCallsAPlaceIsAttachedByName() {
        for (SectionKind kind : SectionKind.all()) {
            FunctionSpec function = Specs.function("p", 1, kind.name(), 0, false, List.of());
            ProgramSpec program = ProgramSpec.of(kind.name() + "/x", function);
            boolean attachedByUsdtModule =
                    kind.name().equals("usdt") || kind.name().equals("usdt.s");

            assertThat(kind.target() == SectionKind.Target.PLACE)
                    .as(kind.name())
                    .isEqualTo(attachedByUsdtModule || program.isAttachedBySection());
            assertThat(kind.form().isEmpty()).as(kind.name()).isEqualTo(kind.target() == SectionKind.Target.NONE);
        }
    }
}
