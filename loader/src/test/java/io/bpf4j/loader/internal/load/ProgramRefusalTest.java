package io.bpf4j.loader.internal.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.internal.linux.Jit;
import org.junit.jupiter.api.Test;

class ProgramRefusalTest {
    @Test
    void aKernelWithoutCompilerIsNotOneWhoseCompilerRefused() {
        assertThat(ProgramRefusal.unsupported(Jit.MISSING))
                .contains("this kernel has no compiler of BPF", "CONFIG_BPF_JIT")
                .doesNotContain("bpf_jit_limit");
        assertThat(ProgramRefusal.unsupported(Jit.OFF))
                .contains("net.core.bpf_jit_enable is 0")
                .doesNotContain("bpf_jit_limit");
        assertThat(ProgramRefusal.unsupported(Jit.ON)).contains("net.core.bpf_jit_limit");
        assertThat(ProgramRefusal.unsupported(Jit.UNKNOWN))
                .contains("net.core.bpf_jit_limit", "net.core.bpf_jit_enable");
    }
}
