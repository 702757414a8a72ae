package io.bpf4j.usdt.site;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.ByteView;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Bytes as the assemblers of binutils and LLVM make them of "nop", "nopl 0(%rax,%rax)" and "nopw %cs:0(%rax,%rax)". */
class NopFormTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            X86_64  | 90 c3                               | NOP       | -
            X86_64  | 90                                  | NOP       | -
            X86_64  | 90 0f 1f 44 00 00 c3                | NOP_NOP5  | 1
            X86_64  | 90 66 2e 0f 1f 84 00 00 00 00 00    | NOP_NOP10 | 1
            X86_64  | 90 66 2e 0f 1f 84 00 00 00 00       | NOP       | -
            X86_64  | 90 66 2e 0f 1f 84 00 01 00 00 00 c3 | NOP       | -
            X86_64  | 90 0f 1f 40 00 c3                   | NOP       | -
            X86_64  | 0f 1f 44 00 00                      | NOP5      | 0
            X86_64  | 66 2e 0f 1f 84 00 00 00 00 00       | NOP10     | 0
            X86_64  | cc 0f 1f 44 00 00                   | OTHER     | -
            X86_64  | ''                                  | OTHER     | -
            I386    | 90 0f 1f 44 00 00                   | NOP       | -
            AARCH64 | 1f 20 03 d5                         | OTHER     | -
            """)
    void theCodeIsRecognised(Machine machine, String hex, NopForm form, String optimisable) {
        byte[] bytes = HexFormat.of().parseHex("ff" + hex.replace(" ", ""));
        ByteView view = ByteView.of("test", bytes, ByteOrder.LITTLE_ENDIAN);
        NopForm found = NopForm.at(view, 1, machine);
        assertThat(found).isEqualTo(form);
        assertThat(found.optimisableAt().isPresent()).isEqualTo(!optimisable.equals("-"));
        found.optimisableAt().ifPresent(at -> assertThat(at).isEqualTo(Integer.parseInt(optimisable)));
        assertThat(NopForm.at(view, bytes.length, machine)).isEqualTo(NopForm.OTHER);
        assertThat(NopForm.at(view, Long.MAX_VALUE, machine)).isEqualTo(NopForm.OTHER);
        assertThat(NopForm.at(view, -1, machine)).isEqualTo(NopForm.OTHER);
    }

    @Test
    void aSiteMovesToTheLongNopAndNoFurther() {
        List<UsdtArg> args = UsdtArg.parse(Machine.X86_64, "-4@sym(%rip)");
        UsdtSite site = UsdtSite.at(0x2010, 0x1010)
                .withSemaphore(0x5000, 0x3000)
                .withArguments("-4@sym(%rip)", args, Map.of())
                .withCode(NopForm.NOP_NOP10);
        UsdtSite moved = site.atOptimisableNop();
        assertThat(moved)
                .isEqualTo(UsdtSite.at(0x2011, 0x1011)
                        .withSemaphore(0x5000, 0x3000)
                        .withArguments("-4@sym(%rip)", args, Map.of())
                        .withCode(NopForm.NOP10));
        assertThat(moved.atOptimisableNop()).isSameAs(moved);
        UsdtSite plain = UsdtSite.at(0x2010, 0x1010).withCode(NopForm.NOP);
        assertThat(plain.atOptimisableNop()).isSameAs(plain);
    }

    @Test
    void unreadableArgumentsHaveReasons() {
        String text = "8@%rax 8f@%xmm0 4@known(%rip) 4@unknown(%rip) 4@other(,%rax,4)" + " 8@%rbx".repeat(20);
        UsdtSite site =
                UsdtSite.at(1, 1).withArguments(text, UsdtArg.parse(Machine.X86_64, text), Map.of("known", 0x5000L));
        assertThat(site.unreadable()).containsOnlyKeys(1, 3, 4, 12);
        assertThat(site.unreadable().get(1)).contains("vector");
        assertThat(site.unreadable().get(3)).contains("'unknown'");
        assertThat(site.unreadable().get(12)).contains("first 12");
    }
}
