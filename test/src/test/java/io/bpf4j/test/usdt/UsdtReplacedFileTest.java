package io.bpf4j.test.usdt;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.usdt.AttachOptions;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What was read is what is attached to, or nothing is: an upgrade may come between the two. */
@Tag("usdt")
@Requires({BPF, GCC, SDT_H, ASSEMBLER})
@ExtendWith(LeakCheck.class)
class UsdtReplacedFileTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(Strategy.class)
    void anotherFileUnderTheSameNameIsRefused(Strategy strategy) throws IOException {
        Path program = copy("-O2", "program");
        List<UsdtProbe> probes =
                UsdtScan.ofFile(program).matching("target:guarded").probes();
        Files.move(copy("-O0", "upgrade"), program, StandardCopyOption.ATOMIC_MOVE);
        assertRefused(strategy, probes, "replaced or written");
    }

    @ParameterizedTest
    @EnumSource(Strategy.class)
    void theSameFileWithOtherContentsIsRefused(Strategy strategy) throws IOException {
        Path program = copy("-O2", "program");
        List<UsdtProbe> probes =
                UsdtScan.ofFile(program).matching("target:guarded").probes();
        Files.write(program, new byte[] {0}, StandardOpenOption.APPEND);
        assertRefused(strategy, probes, "replaced or written");
    }

    @ParameterizedTest
    @EnumSource(Strategy.class)
    void aFileThatIsGoneIsNamed(Strategy strategy) throws IOException {
        Path program = copy("-O2", "program");
        List<UsdtProbe> probes =
                UsdtScan.ofFile(program).matching("target:guarded").probes();
        Files.delete(program);
        assertRefused(strategy, probes, "open of " + program);
    }

    @ParameterizedTest
    @EnumSource(Strategy.class)
    void aFileThatARunningProcessHasIsAttachedThoughItsNameIsAnothersNow(Strategy strategy) throws IOException {
        Path program = copy("-O2", "program");
        try (TargetProgram target = TargetProgram.startCopy(program);
                BpfObject object =
                        strategy.loader("counters.bpf.o", target.pid()).load()) {
            Files.move(copy("-O0", "upgrade"), program, StandardCopyOption.ATOMIC_MOVE);
            List<UsdtProbe> probes =
                    UsdtScan.ofProcess(target.pid()).matching("target:guarded").probes();
            assertThat(probes).hasSize(1);
            AttachOptions options = AttachOptions.defaults().withPid(target.pid());
            assertThat(target.command("guarded")).isEqualTo("0");
            try (var link = Usdt.of(object).attach(object.program("count"), probes, options)) {
                assertThat(link.strategy().name()).isEqualTo(strategy.name());
                assertThat(target.command("guarded")).isEqualTo("1");
            }
            assertThat(target.command("guarded")).isEqualTo("0");
        }
    }

    private Path copy(String flags, String name) throws IOException {
        return Files.copy(TargetProgram.compile(flags), folder.resolve(name), StandardCopyOption.COPY_ATTRIBUTES);
    }

    private static void assertRefused(Strategy strategy, List<UsdtProbe> probes, String why) {
        try (BpfObject object = strategy.loader("counters.bpf.o", 0).load()) {
            Usdt usdt = Usdt.of(object);
            AttachOptions options = AttachOptions.defaults()
                    .withPid((int) ProcessHandle.current().pid());
            assertThatThrownBy(() -> usdt.attach(object.program("count"), probes, options))
                    .isInstanceOf(UsdtException.class)
                    .hasMessageContaining("target:guarded")
                    .hasMessageContaining(why);
            assertThat(usdt.specIdsInUse()).isZero();
        }
    }
}
