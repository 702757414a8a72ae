package io.bpf4j.loader.internal.sys;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Numbers that only some machine in a corner of the world would find to be wrong. */
class SyscallNumbersTest {
    @ParameterizedTest
    @CsvSource({
        "amd64, 101, 61, 234, 293, 41, 312",
        "aarch64, 117, 260, 131, 59, 198, 272",
        "riscv64, 117, 260, 131, 59, 198, 272",
        "s390x, 26, 114, 241, 325, 359, 343"
    })
    void areThoseOfTheKernelsTables(
            String machine, long ptrace, long wait4, long tgkill, long pipe2, long socket, long kcmp) {
        SyscallNumbers numbers = SyscallNumbers.of(machine);
        assertThat(numbers.ptrace()).isEqualTo(ptrace);
        assertThat(numbers.wait4()).isEqualTo(wait4);
        assertThat(numbers.tgkill()).isEqualTo(tgkill);
        assertThat(numbers.pipe2()).isEqualTo(pipe2);
        assertThat(numbers.socket()).isEqualTo(socket);
        assertThat(numbers.kcmp()).isEqualTo(kcmp);
    }
}
