package io.bpf4j.cli.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.loader.RunStatistics;
import io.bpf4j.sys.BpfException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where this process may not make the kernel measure; {@code CliExportTest} has the other case. */
class ProgramStatisticsTest {
    @TempDir
    private Path folder;

    private static RunStatistics refuse() {
        throw new BpfException("BPF_ENABLE_STATS: Operation not permitted");
    }

    @Test
    void anAdministratorMayHaveSetIt() throws IOException {
        Path setting = Files.writeString(folder.resolve("set"), "1\n");
        try (ProgramStatistics statistics = ProgramStatistics.start(ProgramStatisticsTest::refuse, setting)) {
            assertThat(statistics.areOn()).isTrue();
            Files.writeString(setting, "0\n");
            assertThat(statistics.areOn()).isFalse();
        }
    }

    @Test
    void ifNobodyHasItIsRefused() throws IOException {
        Path off = Files.writeString(folder.resolve("off"), "0\n");
        for (Path setting : new Path[] {off, folder.resolve("none")}) {
            assertThatThrownBy(() -> ProgramStatistics.start(ProgramStatisticsTest::refuse, setting))
                    .isInstanceOf(CommandException.class)
                    .hasMessageContaining("Operation not permitted")
                    .hasMessageContaining(
                            "it needs CAP_SYS_ADMIN, or an administrator who sets sysctl kernel.bpf_stats_enabled=1");
        }
    }
}
