package io.bpf4j.loader.binding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.objects.TestObjects;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The lines of an object, and what is said of an object that has others. */
class ObjectLayoutTest {
    private final ObjectSpec maps = ObjectSpec.parse("maps.bpf.o", TestObjects.bytes("maps.bpf.o"));

    private final List<String> lines =
            ObjectLayout.lines(maps, List.of("map hash", "global target_tgid", "type record", "program maps"));

    @Test
    void theLinesOfAnObject() {
        assertThat(lines)
                .containsExactly(
                        "map hash: hash",
                        "map hash key: struct, 8 bytes",
                        "map hash key.kind: u32, 4 bytes at 0",
                        "map hash key.number: u32, 4 bytes at 4",
                        "map hash value: struct, 16 bytes",
                        "map hash value.sum: u64, 8 bytes at 0",
                        "map hash value.touched: u32, 4 bytes at 8",
                        "map hash value.cpu: u32, 4 bytes at 12",
                        "global target_tgid: constant, u32, 4 bytes",
                        "type record: struct, 16 bytes",
                        "type record .run: u64, 8 bytes at 0",
                        "type record .found: u64, 8 bytes at 8",
                        "program maps: kprobe");
        assertThat(ObjectLayout.lines(maps, List.of("map none", "global none", "type none", "program none")))
                .isEmpty();
    }

    @Test
    void anObjectFitsItsOwnLines() {
        ObjectLayout.of(lines.toArray(String[]::new)).check(maps, ObjectLayoutTest.class);
        ObjectLayout.of().check(maps, ObjectLayoutTest.class);
    }

    @Test
    void everyDifferenceIsNamed() {
        ObjectLayout other = ObjectLayout.of(
                "map hash: lru_hash",
                "map hash value: struct, 24 bytes",
                "map hash value.sum: u64, 8 bytes at 8",
                "map hash value.pid: u32, 4 bytes at 0",
                "map hash value.cpu: u32, 4 bytes at 12",
                "map absent: hash",
                "map absent key: u32, 4 bytes",
                "program gone: kprobe");
        assertThatThrownBy(() -> other.check(maps, ObjectLayoutTest.class))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessage("maps.bpf.o is not the object that io.bpf4j.loader.binding.ObjectLayoutTest was generated"
                        + " from: map hash is hash, but the class expects lru_hash; map hash value is struct, 16 bytes,"
                        + " but the class expects struct, 24 bytes; map hash value.sum is u64, 8 bytes at 0, but the"
                        + " class expects u64, 8 bytes at 8; map hash value.pid is missing, but the class expects u32,"
                        + " 4 bytes at 0; it has no map absent; it has no program gone. Generate the class from this object,"
                        + " or load the object of the class");
    }

    @Test
    void anObjectWithoutTypesIsNotComparedWithTypes() {
        String stripped =
                new String(TestObjects.bytes("replaced.bpf.o"), StandardCharsets.ISO_8859_1).replace(".BTF", ".XTF");
        ObjectSpec untyped = ObjectSpec.parse("untyped.bpf.o", stripped.getBytes(StandardCharsets.ISO_8859_1));
        assertThat(untyped.btf()).isEmpty();
        assertThatThrownBy(
                        () -> ObjectLayout.of("type record: struct, 16 bytes").check(untyped, ObjectLayoutTest.class))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessage("untyped.bpf.o has no BTF, so it can't be compared with"
                        + " io.bpf4j.loader.binding.ObjectLayoutTest; compile it with clang -g, and don't strip .BTF");
    }

    @Test
    void aLongListOfDifferencesIsCut() {
        String[] many = new String[30];
        for (int i = 0; i < many.length; i++) {
            many[i] = "map hash value.m" + i + ": u32, 4 bytes at 0";
        }
        assertThatThrownBy(() -> ObjectLayout.of(many).check(maps, ObjectLayoutTest.class))
                .hasMessageContaining("m9 is missing")
                .hasMessageNotContaining("m10 is")
                .hasMessageContaining("; and 20 more differences. ");
    }
}
