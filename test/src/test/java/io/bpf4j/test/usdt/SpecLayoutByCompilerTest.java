package io.bpf4j.test.usdt;

import static io.bpf4j.test.support.Requirement.CLANG;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfFile;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.usdt.internal.spec.ArgSpec;
import io.bpf4j.usdt.internal.spec.BtfLayout;
import io.bpf4j.usdt.internal.spec.SpecLayout;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the loader writes into the map of specs is what a compiler makes of the same values, for both byte orders. */
@Requires(CLANG)
class SpecLayoutByCompilerTest {

    @ParameterizedTest
    @CsvSource({"bpfel, 304", "bpfel, 208", "bpfeb, 304", "bpfeb, 208"})
    void theCompilersBytesAreOurs(String target, int size) throws IOException, InterruptedException {
        Path module = TargetProgram.testModule();
        Path object = TargetProgram.temporaryFolder().resolve("spec.o");
        List<String> command = new ArrayList<>(List.of(
                Commands.clang().orElseThrow().toString(),
                "-O2",
                "-g",
                "-target",
                target,
                "-I" + module.resolve("../bpf-objects/src/main/bpf/include").normalize(),
                "-c",
                module.resolve("src/test/c/layout/spec.c").toString(),
                "-o",
                object.toString()));
        if (size == 208) {
            command.add("-DUSDT_SPEC_208");
        }
        Commands.check(command);
        ByteOrder order = target.equals("bpfel") ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
        Btf types = BtfFile.read(object);
        SpecLayout layout = BtfLayout.of(
                        types, types.find("__bpf_usdt_spec", BtfKind.STRUCT).orElseThrow())
                .orElseThrow();
        assertThat(layout.order()).isEqualTo(order);
        assertThat(layout.size()).isEqualTo(size);
        try (ElfFile elf = ElfFile.open(object)) {
            byte[] compiled = elf.data(elf.section(".data").orElseThrow()).toByteArray();
            assertThat(layout.encode(args(layout), 0xfedcba9876543210L)).isEqualTo(compiled);
        }
    }

    /** The values of spec.c. */
    private static List<ArgSpec> args(SpecLayout layout) {
        List<ArgSpec> args =
                new ArrayList<>(Collections.nCopies(12, new ArgSpec(ArgSpec.Type.CONSTANT, 0, 0, 0, 0, false, 0)));
        args.set(0, new ArgSpec(ArgSpec.Type.CONSTANT, -9, 0, 0, 0, true, 32));
        args.set(1, new ArgSpec(ArgSpec.Type.REGISTER, 0, 80, 0, 0, false, 0));
        args.set(2, new ArgSpec(ArgSpec.Type.DEREFERENCE, -20, 32, 0, 0, true, 56));
        if (layout.hasIndex()) {
            args.set(3, new ArgSpec(ArgSpec.Type.SIB, 0x1122334455667788L, 0x50, 0x123, 2, true, 32));
            args.set(4, new ArgSpec(ArgSpec.Type.SIB, 1, 264, 0xfff, 3, false, 0));
            args.set(5, new ArgSpec(ArgSpec.Type.SIB, 0, 0, 8, 0, false, 48));
            args.set(7, new ArgSpec(ArgSpec.Type.SIB, 0, 0, 0, 0, -4, false, 0, null));
            args.set(8, new ArgSpec(ArgSpec.Type.SIB, 0, 0, 0, 0, 4, false, 0, null));
        }
        args.set(6, ArgSpec.unreadable(""));
        args.set(11, new ArgSpec(ArgSpec.Type.DEREFERENCE, Long.MIN_VALUE, 0x1234, 0, 0, false, 48));
        return args;
    }
}
