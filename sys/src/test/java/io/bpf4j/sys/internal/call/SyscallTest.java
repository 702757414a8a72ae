package io.bpf4j.sys.internal.call;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Numbers that only some machine in a corner of the world would find to be wrong. */
class SyscallTest {
    @ParameterizedTest
    @CsvSource({
        "amd64, 101, 61, 234, 293, 41, 312, 321, 434",
        "aarch64, 117, 260, 131, 59, 198, 272, 280, 434",
        "riscv64, 117, 260, 131, 59, 198, 272, 280, 434",
        "s390x, 26, 114, 241, 325, 359, 343, 351, 434"
    })
    void areThoseOfTheKernelsTables(
            String machine,
            long ptrace,
            long wait4,
            long tgkill,
            long pipe2,
            long socket,
            long kcmp,
            long bpf,
            long pidfdOpen) {
        assertThat(Syscall.PTRACE.on(machine)).isEqualTo(ptrace);
        assertThat(Syscall.WAIT4.on(machine)).isEqualTo(wait4);
        assertThat(Syscall.TGKILL.on(machine)).isEqualTo(tgkill);
        assertThat(Syscall.PIPE2.on(machine)).isEqualTo(pipe2);
        assertThat(Syscall.SOCKET.on(machine)).isEqualTo(socket);
        assertThat(Syscall.KCMP.on(machine)).isEqualTo(kcmp);
        assertThat(Syscall.BPF.on(machine)).isEqualTo(bpf);
        assertThat(Syscall.PIDFD_OPEN.on(machine)).isEqualTo(pidfdOpen);
    }

    @Test
    void anUnknownMachineHasNone() {
        assertThat(Syscall.BPF.on("sparc")).isNegative();
        assertThat(Syscall.whyUnknown()).isEmpty();
        assertThat(Syscall.BPF.number()).isEqualTo(Syscall.BPF.on(System.getProperty("os.arch")));
    }
}
