package io.bpf4j.test.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.bindings.BindingsGenerator;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.GeneratedClasses;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Classes of objects with types that no compiler writes: a class compiles and opens its object, or the generator says
 * what is wrong. The types are members of {@code struct hostile}, in an object that is sound otherwise.
 */
@Timeout(60)
class HostileBindingsTest {
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    @TempDir
    Path folder;

    private BtfBuilder types;
    private int u32;

    @BeforeEach
    void typesOfTheObject() {
        types = BtfBuilder.from(ObjectSpec.parse("gc.bpf.o", TestObjects.bytes("gc.bpf.o", ORDER))
                .btf()
                .orElseThrow());
        u32 = types.integer("unsigned int", 4, 0);
    }

    private String source() {
        return BindingsGenerator.of(object(), "Hostile").withStruct("hostile").source();
    }

    private ObjectSpec object() {
        return ObjectSpec.parse("gc.bpf.o", withTypes(TestObjects.bytes("gc.bpf.o", ORDER), types.toBytes(ORDER)));
    }

    /** The object with other types: they are appended, and its section of types is moved to them. */
    private static byte[] withTypes(byte[] elf, byte[] btf) {
        ByteBuffer bytes =
                ByteBuffer.wrap(Arrays.copyOf(elf, elf.length + btf.length)).order(ORDER);
        bytes.put(elf.length, btf);
        int headers = (int) bytes.getLong(0x28);
        int names = (int) bytes.getLong(headers + 64 * bytes.getShort(0x3e) + 0x18);
        byte[] wanted = ".BTF\0".getBytes(StandardCharsets.US_ASCII);
        for (int header = headers; header < headers + 64 * bytes.getShort(0x3c); header += 64) {
            int name = names + bytes.getInt(header);
            if (Arrays.equals(elf, name, name + wanted.length, wanted, 0, wanted.length)) {
                bytes.putLong(header + 0x18, elf.length).putLong(header + 0x20, btf.length);
            }
        }
        return bytes.array();
    }

    /** Generates the class, compiles it and lets it compare itself with its object. */
    private void assertUsable() throws Exception {
        assertThat(GeneratedClasses.compile(Map.of("Hostile", source()), folder))
                .isEmpty();
        try (URLClassLoader loader = GeneratedClasses.load(folder)) {
            Class<?> type = loader.loadClass("Hostile");
            assertThat(type.getMethod("open", ObjectSpec.class).invoke(null, object()))
                    .isNotNull();
        }
    }

    private void hostile(long size, BtfType.Member... members) {
        types.struct("hostile", size, members);
    }

    /** The type of a pointer ends with a star, so a name that begins with a slash would end the comment. */
    @Test
    void aPointerAndItsNameDoNotEndAComment() throws Exception {
        hostile(8, BtfType.Member.at("/ static final int CODE = 1; /*", types.pointer(u32), 0));
        assertThat(source()).doesNotContain("*/ static");
        assertUsable();
    }

    @Test
    void namesMayHaveAnyLineBreak() throws Exception {
        String name = "a\u2028b\u2029c\u0085d\u000be\ff\rg\nh\ti\"\\u000a1\u00e9";
        int enumeration = types.add(new BtfType.Enum32("kind", 4, false, List.of(new BtfType.EnumValue(name, 1))));
        hostile(8, BtfType.Member.at(name, u32, 0), BtfType.Member.at("kind", enumeration, 4));
        assertUsable();
        try (URLClassLoader loader = GeneratedClasses.load(folder)) {
            Class<?> kind = loader.loadClass("Hostile$Kind");
            assertThat(kind.getConstructor(int.class).newInstance(1)).hasToString(name);
        }
    }

    /** Views inherit the class Factory of StructView, which would hide another one in the class of the object. */
    @Test
    void noTypeHidesOneThatAViewInherits() throws Exception {
        int factory = types.struct("factory", 4, BtfType.Member.at("a", u32, 0));
        hostile(4, BtfType.Member.at("made", factory, 0));
        assertUsable();
    }

    /** The name of a class is part of a file's name. */
    @Test
    void namesMayBeAsLongAsTypesCanHave() throws Exception {
        int inner = types.struct("x".repeat(4000), 4, BtfType.Member.at("a", u32, 0));
        int nameless = types.struct("", 4, BtfType.Member.at("b", u32, 0));
        hostile(8, BtfType.Member.at("f".repeat(4000), inner, 0), BtfType.Member.at("f".repeat(3000), nameless, 4));
        assertUsable();
    }
}
