package io.bpf4j.trace.internal.expression;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfFile;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.objects.BpfObjects;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The fields of an event are where the program that is shipped has them, by its own BTF. */
class EventFieldTest {
    @TempDir
    Path folder;

    @Test
    void fieldsAreWhereTheProgramHasThem() throws IOException {
        Btf types = BtfFile.read(Files.write(folder.resolve("question.bpf.o"), BpfObjects.question()));
        int id = types.find("question_event", BtfKind.STRUCT).orElseThrow();
        Map<String, Long> offsets = ((BtfType.Struct) types.type(id))
                .members().stream().collect(Collectors.toMap(BtfType.Member::name, member -> member.bitOffset() / 8));

        for (EventField field : EventField.values()) {
            assertThat(offsets).containsEntry(field.name().toLowerCase(Locale.ROOT), (long) field.offset());
        }
        assertThat(offsets)
                .containsEntry("cookie", (long) EventField.COOKIE)
                .containsEntry("unreadable", (long) EventField.UNREADABLE)
                .containsEntry("comm", (long) EventField.COMM)
                .containsEntry("begin", (long) EventField.BEGIN);
    }
}
