package io.bpf4j.sys.internal.call;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Numbers that only some machine in a corner of the world would find to be wrong. */
class SyscallTest {
    @ParameterizedTest
    @CsvSource({
        "amd64, 101, 61, 234, 293, 41, 312, 321, 434, 138",
        "aarch64, 117, 260, 131, 59, 198, 272, 280, 434, 44",
        "riscv64, 117, 260, 131, 59, 198, 272, 280, 434, 44",
        "s390x, 26, 114, 241, 325, 359, 343, 351, 434, 100"
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
            long pidfdOpen,
            long fstatfs) {
        assertThat(Syscall.PTRACE.numberOn(machine)).isEqualTo(ptrace);
        assertThat(Syscall.WAIT4.numberOn(machine)).isEqualTo(wait4);
        assertThat(Syscall.TGKILL.numberOn(machine)).isEqualTo(tgkill);
        assertThat(Syscall.PIPE2.numberOn(machine)).isEqualTo(pipe2);
        assertThat(Syscall.SOCKET.numberOn(machine)).isEqualTo(socket);
        assertThat(Syscall.KCMP.numberOn(machine)).isEqualTo(kcmp);
        assertThat(Syscall.BPF.numberOn(machine)).isEqualTo(bpf);
        assertThat(Syscall.PIDFD_OPEN.numberOn(machine)).isEqualTo(pidfdOpen);
        assertThat(Syscall.FSTATFS.numberOn(machine)).isEqualTo(fstatfs);
    }

    @Test
    void anUnknownMachineHasNone() {
        assertThat(Syscall.BPF.numberOn("sparc")).isNegative();
        assertThat(Syscall.whyUnsupported()).isEmpty();
        assertThat(Syscall.BPF.number()).isEqualTo(Syscall.BPF.numberOn(System.getProperty("os.arch")));
    }
}
