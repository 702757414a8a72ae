package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.CLANG;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfFile;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.Symbol;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.trace.event.ProbeEvent;
import io.bpf4j.trace.event.ProbeEvent.Form;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Field;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What Java reads of a record is where a compiler puts it. The records are in no BTF of the shipped objects. */
@Requires(CLANG)
class RecordsByCompilerTest {
    private static Path compiled() throws IOException, InterruptedException {
        Path module = TargetProgram.testModule();
        Path sources = module.resolve("../bpf-objects/src/main/bpf").normalize();
        Path object = TargetProgram.temporaryFolder().resolve("records.o");
        Commands.check(List.of(
                Commands.clang().orElseThrow().toString(),
                "-O2",
                "-g",
                "-target",
                ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? "bpfel" : "bpfeb",
                "-I" + sources,
                "-I" + sources.resolve("include"),
                "-c",
                module.resolve("src/test/c/layout/records.c").toString(),
                "-o",
                object.toString()));
        return object;
    }

    @Test
    void anEventOfTheTracer() throws IOException, InterruptedException {
        try (ElfFile elf = ElfFile.open(compiled())) {
            Symbol traced = elf.symbols()
                    .filter(symbol -> symbol.name().equals("traced"))
                    .findFirst()
                    .orElseThrow();
            byte[] bytes = elf.data(elf.section(".data").orElseThrow()).toByteArray();
            ProbeEvent event = new ProbeEvent(List.of(), 128);
            event.moveTo(MemorySegment.ofArray(bytes), traced.value(), (int) traced.size());

            assertThat(event.timeNs()).isEqualTo(0x1122334455667788L);
            assertThat(event.cookie()).isEqualTo(42);
            assertThat(event.pid()).isEqualTo(100);
            assertThat(event.tid()).isEqualTo(101);
            assertThat(event.comm()).isEqualTo("worker".getBytes(US_ASCII));
            assertThat(event.isPaused()).isTrue();
            assertThat(IntStream.range(0, event.argCount()).mapToObj(event::form))
                    .containsExactly(Form.NUMBER, Form.UNREADABLE, Form.NUMBER);
            assertThat(event.bits(0)).isEqualTo(7);
            assertThat(event.bits(2)).isEqualTo(-9);
        }
    }

    @Test
    void anEventThatAQuestionShows() throws Exception {
        Btf types = BtfFile.read(compiled());
        BtfType.Struct record = (BtfType.Struct)
                types.type(types.find("question_record", BtfKind.STRUCT).orElseThrow());
        Map<String, Long> offsets = record.members().stream()
                .collect(Collectors.toMap(BtfType.Member::name, member -> member.bitOffset() / Byte.SIZE));

        Class<?> reader = Class.forName("io.bpf4j.trace.EventReader");
        for (Map.Entry<String, Long> member : offsets.entrySet()) {
            Field constant = reader.getDeclaredField(member.getKey().toUpperCase(Locale.ROOT));
            constant.setAccessible(true);
            assertThat(constant.getInt(null))
                    .as(member.getKey())
                    .isEqualTo(member.getValue().intValue());
        }
        assertThat(offsets).hasSize(8);
    }
}
