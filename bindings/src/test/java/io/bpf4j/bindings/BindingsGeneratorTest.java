package io.bpf4j.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.UnknownNameException;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.objects.TestObjects;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The text of generated classes. BindingsOnKernelTest finds out whether they compile and are right. */
class BindingsGeneratorTest {
    private static ObjectSpec spec(String name) {
        return ObjectSpec.parse("/anywhere/" + name, TestObjects.bytes(name));
    }

    @Test
    void theClassOfTheQuickStart() throws IOException {
        String source = BindingsGenerator.of(spec("gc.bpf.o"), "Gc")
                .withPackage("org.example")
                .source();
        // To compare with, and to put in the place of the other if the change is intended.
        Files.writeString(Files.createDirectories(Path.of("target")).resolve("Gc.java.txt"), source);
        try (InputStream in = Objects.requireNonNull(getClass().getResourceAsStream("Gc.java.txt"))) {
            assertThat(source.lines())
                    .containsExactlyElementsOf(new String(in.readAllBytes(), StandardCharsets.UTF_8)
                            .lines()
                            .toList());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gc.bpf.o", "globals.bpf.o", "maps.bpf.o"})
    void theSameObjectGivesTheSameTextInBothByteOrders(String name) {
        String little = BindingsGenerator.of(
                        ObjectSpec.parse(name, TestObjects.bytes(name, ByteOrder.LITTLE_ENDIAN)), "Same")
                .source();
        String big = BindingsGenerator.of(ObjectSpec.parse(name, TestObjects.bytes(name, ByteOrder.BIG_ENDIAN)), "Same")
                .source();
        assertThat(big).isEqualTo(little);
    }

    @Test
    void anObjectForEachByteOrderIsAResourceForEach() {
        assertThat(BindingsGenerator.of(spec("gc.bpf.o"), "Gc")
                        .withBothByteOrders()
                        .withPackage("org.example")
                        .withEvent("pauses", "pause")
                        .source()
                        .replaceAll("\\s+", " "))
                .contains(
                        "// bpf4j generate --package org.example --class Gc --event pauses=pause --both-orders gc.bpf.o ")
                .contains("String OBJECT = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? \"big/gc.bpf.o\" :"
                        + " \"gc.bpf.o\";")
                .contains("{@code gc.bpf.o} beside this class, on a big-endian machine in its folder big.");
    }

    @Test
    void theEventsOfAMapAreFoundByItsName() {
        assertThat(BindingsGenerator.of(spec("gc.bpf.o"), "Gc").events()).containsEntry("pauses", "pause");
        BindingsGenerator maps = BindingsGenerator.of(spec("maps.bpf.o"), "Maps");
        assertThat(maps.events()).isEmpty();
        assertThat(maps.unknownEvents()).containsExactly("ring");
        assertThat(maps.source()).contains("public BpfMap ring()").doesNotContain("record RecordStruct");
        BindingsGenerator named = maps.withEvent("ring", "record");
        assertThat(named.unknownEvents()).isEmpty();
        assertThat(named.source())
                .contains("// bpf4j generate --class Maps --event ring=record maps.bpf.o\n")
                .contains("public EventMap<RecordStruct, RecordStruct.View> ring()");
        assertThat(maps.withStruct("record").source())
                .contains("// bpf4j generate --class Maps --struct record maps.bpf.o\n")
                .contains("public BpfMap ring()")
                .contains("public record RecordStruct(");
    }

    @Test
    void whatTheObjectDoesNotHaveIsRefused() {
        BindingsGenerator generator = BindingsGenerator.of(spec("maps.bpf.o"), "Maps");
        assertThatThrownBy(() -> generator.withEvent("rings", "record"))
                .isInstanceOf(UnknownNameException.class)
                .hasMessageContaining("no map 'rings'")
                .hasMessageContaining("'ring'");
        assertThatThrownBy(() -> generator.withEvent("ring", "recrod"))
                .isInstanceOf(UnknownNameException.class)
                .hasMessageContaining("no struct 'recrod'")
                .hasMessageContaining("struct recrod *unused_recrod __attribute__((unused));")
                .hasMessageContaining("the nearest is 'record'");
        assertThatThrownBy(() -> generator.withStruct("u64")).isInstanceOf(UnknownNameException.class);
        assertThatThrownBy(
                        () -> BindingsGenerator.of(spec("maps.bpf.o"), "Maps").withEvent("hash", "record"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("map \"hash\"")
                .hasMessageContaining("neither a ring buffer nor a perf event array");
    }

    /** Whoever makes an object chooses its names; none of them may become code of the class. */
    @Test
    void namesOfTheObjectStayNames() {
        String bytes = new String(TestObjects.bytes("gc.bpf.o"), StandardCharsets.ISO_8859_1)
                .replace("duration_ns", "x*/\\u002a{\"") // as long as before
                .replace("gc_begin", "g*/\n;}\\u")
                .replace("pauses", "p\"\\+\"$");
        String source = BindingsGenerator.of(
                        ObjectSpec.parse("*/\n\\u000aclass.bpf.o", bytes.getBytes(StandardCharsets.ISO_8859_1)), "Gc")
                .source();
        // In strings they are escaped; GeneratedObjectsTest compiles such a class.
        assertThat(source)
                .startsWith("// Generated by bpf4j from ??u000aclass.bpf.o; ")
                .contains("__u64 x*??u002a??", "object.map(\"p\\\"\\\\+\\\"$\")");
    }

    @Test
    void anObjectWithoutTypesIsRefused() {
        byte[] bytes = TestObjects.bytes("replaced.bpf.o");
        String text = new String(bytes, StandardCharsets.ISO_8859_1).replace(".BTF", ".XTF");
        ObjectSpec untyped = ObjectSpec.parse("untyped.bpf.o", text.getBytes(StandardCharsets.ISO_8859_1));
        assertThat(untyped.btf()).isEmpty();
        assertThatThrownBy(() -> BindingsGenerator.of(untyped, "Untyped"))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessage("untyped.bpf.o has no BTF, so the types of its maps and variables are unknown;"
                        + " compile it with clang -g");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "class", "1st", "a.b", "a b", "View"})
    void aClassMustHaveANameOfJava(String name) {
        assertThatThrownBy(() -> BindingsGenerator.of(spec("gc.bpf.o"), name))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aPackageMustHaveANameOfJava() {
        BindingsGenerator generator = BindingsGenerator.of(spec("gc.bpf.o"), "Gc");
        assertThat(generator.source()).doesNotContain("package ");
        assertThatThrownBy(() -> generator.withPackage("org.class.x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("'org.class.x' can't be the name of a package");
    }

    @Test
    void aClassIsNamedAfterItsFile() {
        assertThat(BindingsGenerator.classNameOf("gc.bpf.o")).isEqualTo("Gc");
        assertThat(BindingsGenerator.classNameOf("/a/b/gc-pauses_2.bpf.o")).isEqualTo("GcPauses2");
        assertThat(BindingsGenerator.classNameOf("x")).isEqualTo("X");
        assertThat(BindingsGenerator.classNameOf("view.bpf.o")).isEqualTo("ViewObject");
    }

    @Test
    void generatedFilesAreTold() {
        String source = BindingsGenerator.of(spec("gc.bpf.o"), "Gc").source();
        assertThat(BindingsGenerator.isGenerated(source.lines().findFirst().orElseThrow()))
                .isTrue();
        assertThat(BindingsGenerator.isGenerated("package org.example;")).isFalse();
    }
}
