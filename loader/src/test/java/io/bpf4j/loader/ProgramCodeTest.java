package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.sys.internal.call.RawCode;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Source lines whose texts another process has chosen. */
class ProgramCodeTest {
    private static List<ProgramCode.SourceLine> lines(int count, String text) {
        BtfBuilder builder = BtfBuilder.create();
        builder.struct(text, 0);
        Btf types = builder.build("test", ByteOrder.nativeOrder());
        // The strings are the last section; the first one is empty.
        String raw = new String(types.raw(), StandardCharsets.ISO_8859_1);
        int offset = raw.indexOf(text) - raw.lastIndexOf('\0', raw.indexOf(text));
        int[] lines = new int[count * RawCode.LINE_WORDS];
        for (int i = 0; i < count; i++) {
            lines[i * RawCode.LINE_WORDS] = i;
            lines[i * RawCode.LINE_WORDS + 2] = offset;
            lines[i * RawCode.LINE_WORDS + 3] = 7 << 10 | 3;
        }
        RawCode raws = new RawCode(new byte[0], new byte[0], new long[0], new int[0], new int[0], lines, new long[0]);
        return ProgramCode.lines(raws, Optional.of(types));
    }

    @Test
    void aLineHasItsText() {
        assertThat(lines(1, "return 0;")).containsExactly(new ProgramCode.SourceLine(0, 0, "", "return 0;", 7, 3));
    }

    /** A string of BTF may have megabytes, and each line may refer to it. */
    @Test
    void linesDoNotMultiplyALongText() {
        assertThat(lines(2, "x".repeat(5000)))
                .allSatisfy(line -> assertThat(line.text()).isEmpty());
        int count = 100_000;
        long all = lines(count, "x".repeat(4000)).stream()
                .mapToLong(line -> line.text().length())
                .sum();
        assertThat(all).isPositive().isLessThan(300L * count);
    }
}
