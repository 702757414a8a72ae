package io.bpf4j.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.trace.catalog.Catalog;
import org.junit.jupiter.api.Test;

class ReadyCommandTest {
    private static final Catalog CATALOG = Catalog.parse("probes", """
            question shop orders
              run count shop:order
            question shop all
              run shop orders
            question shop day
              run shop night
            question shop night
              run shop day
            """);

    @Test
    void aQuestionMayStandForAnother() {
        assertThatCode(() -> ReadyCommand.refuseCycle(CATALOG, CATALOG.question("shop", "all")))
                .doesNotThrowAnyException();
    }

    @Test
    void questionsThatStandForEachOtherAreRefused() {
        assertThatThrownBy(() -> ReadyCommand.refuseCycle(CATALOG, CATALOG.question("shop", "day")))
                .isInstanceOf(CommandException.class)
                .hasMessageContaining("refer to each other: shop day, shop night, shop day");
    }

    @Test
    void theCatalogKnowsAProviderByItsNameAlone() {
        assertThat(Run.of("catalog", "libc").out()).isNotEmpty().allMatch(line -> line.startsWith("libc:"));
        assertThat(Run.of("catalog", "postgres").err())
                .singleElement()
                .asString()
                .contains("no provider or probe postgres; its providers are hotspot", "'bpf4j postgres' lists");
    }
}
