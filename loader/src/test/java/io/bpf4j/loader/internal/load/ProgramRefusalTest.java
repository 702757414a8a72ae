package io.bpf4j.loader.internal.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.linux.Jit;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.ProgramType;
import org.junit.jupiter.api.Test;

class ProgramRefusalTest {
    /** Seen on Debian's kernel for s390x: a program for a function of the kernel was refused for want of memory. */
    @Test
    void aKernelWithoutCompilerIsNotOneWithoutMemory() {
        ProgCommand.Load plain = ProgCommand.Load.of(ProgramType.TRACING.number(), "p", new byte[8], "GPL");
        ProgCommand.Load attached = plain.withAttachTarget(7, null);
        assertThat(ProgramRefusal.lacksTrampoline(Errno.ENOMEM, attached, Jit.MISSING))
                .isTrue();
        assertThat(ProgramRefusal.lacksTrampoline(Errno.ENOMEM, attached, Jit.ON))
                .isFalse();
        assertThat(ProgramRefusal.lacksTrampoline(Errno.ENOMEM, plain, Jit.MISSING))
                .isFalse();
        assertThat(ProgramRefusal.lacksTrampoline(Errno.EINVAL, attached, Jit.MISSING))
                .isFalse();
    }

    @Test
    void aKernelWithoutCompilerIsNotOneWhoseCompilerRefused() {
        assertThat(ProgramRefusal.unsupported(Jit.MISSING))
                .contains("this kernel has no BPF JIT compiler", "CONFIG_BPF_JIT")
                .doesNotContain("bpf_jit_limit");
        assertThat(ProgramRefusal.unsupported(Jit.OFF))
                .contains("net.core.bpf_jit_enable is 0")
                .doesNotContain("bpf_jit_limit");
        assertThat(ProgramRefusal.unsupported(Jit.ON)).contains("net.core.bpf_jit_limit");
        assertThat(ProgramRefusal.unsupported(Jit.UNKNOWN))
                .contains("net.core.bpf_jit_limit", "net.core.bpf_jit_enable");
    }
}
