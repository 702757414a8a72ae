package io.bpf4j.usdt.internal.spec;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A full spec, with every kind of argument and every bit of the bit fields, byte for byte as the compiler lays it out.
 * The integration test SpecLayoutByCompilerTest has the compiler say it anew.
 */
class SpecGoldenTest {

    @ParameterizedTest
    @CsvSource({"bpfel, 304", "bpfel, 208", "bpfeb, 304", "bpfeb, 208"})
    void asTheCompilerLaysItOut(String target, int size) throws IOException {
        ByteOrder order = target.equals("bpfel") ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
        SpecLayout layout = SpecLayout.ofValueSize(size, order).orElseThrow();
        List<String> golden = golden().get(target + " " + size);
        assertThat(golden).isNotNull().hasSize(13);
        byte[] bytes = layout.encode(args(layout), 0xfedcba9876543210L);
        assertThat(bytes).hasSize(size);
        // By lines, so that a failure names the argument.
        int at = 0;
        for (int i = 0; i < golden.size(); i++) {
            int length = golden.get(i).length() / 2;
            assertThat(HexFormat.of().formatHex(bytes, at, at + length))
                    .as("line " + i)
                    .isEqualTo(golden.get(i));
            at += length;
        }
        assertThat(at).isEqualTo(size);
    }

    private static List<ArgSpec> args(SpecLayout layout) {
        List<ArgSpec> args = new ArrayList<>(Collections.nCopies(12, constant(0, false, 0)));
        args.set(0, constant(-9, true, 32));
        args.set(1, new ArgSpec(ArgSpec.Type.REGISTER, 0, 80, 0, 0, false, 0));
        args.set(2, new ArgSpec(ArgSpec.Type.DEREFERENCE, -20, 32, 0, 0, true, 56));
        if (layout.hasIndex()) {
            args.set(3, new ArgSpec(ArgSpec.Type.SIB, 0x1122334455667788L, 0x50, 0x123, 2, true, 32));
            args.set(4, new ArgSpec(ArgSpec.Type.SIB, 1, 264, 0xfff, 3, false, 0));
            args.set(5, new ArgSpec(ArgSpec.Type.SIB, 0, 0, 8, 0, false, 48));
        }
        args.set(6, ArgSpec.unreadable(""));
        args.set(11, new ArgSpec(ArgSpec.Type.DEREFERENCE, Long.MIN_VALUE, 0x1234, 0, 0, false, 48));
        return args;
    }

    private static ArgSpec constant(long value, boolean signed, int bitShift) {
        return new ArgSpec(ArgSpec.Type.CONSTANT, value, 0, 0, 0, signed, bitShift);
    }

    private static Map<String, List<String>> golden() throws IOException {
        Map<String, List<String>> all = new LinkedHashMap<>();
        List<String> current = new ArrayList<>();
        try (InputStream in = SpecGoldenTest.class.getResourceAsStream("golden.txt")) {
            assertThat(in).isNotNull();
            for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList()) {
                if (line.startsWith("bpf")) {
                    current = new ArrayList<>();
                    all.put(line, current);
                } else if (!line.startsWith("#")) {
                    current.add(line);
                }
            }
        }
        return all;
    }
}
