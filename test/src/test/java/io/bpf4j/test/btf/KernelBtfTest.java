package io.bpf4j.test.btf;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.ByteView;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The largest BTF there is, with every kind that its compiler makes. */
@Requires(Requirement.KERNEL_BTF)
class KernelBtfTest {
    @Test
    void everyTypeOfTheKernelIsRead() throws IOException {
        Path vmlinux = Path.of("/sys/kernel/btf/vmlinux");
        Btf btf = Btf.parse(ByteView.of("vmlinux", Files.readAllBytes(vmlinux), ByteOrder.nativeOrder()));

        int task = btf.find("task_struct", BtfKind.STRUCT).orElseThrow();
        assertThat(btf.size(task)).isBetween(1000L, 20000L);
        assertThat(((BtfType.Struct) btf.type(task)).members())
                .extracting(BtfType.Member::name)
                .contains("pid", "tgid", "comm");
        for (int id = 0; id < btf.typeCount(); id++) {
            assertThat(btf.type(id).kind()).isEqualTo(btf.kind(id));
        }
    }
}
