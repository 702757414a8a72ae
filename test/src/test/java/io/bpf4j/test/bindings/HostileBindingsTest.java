package io.bpf4j.test.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.bindings.BindingsGenerator;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.GeneratedClasses;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Classes of objects with types that no compiler writes: a class compiles and opens its object, or the generator says
 * what is wrong. The types are members of {@code struct hostile}, in an object that is sound otherwise.
 */
@Timeout(1800) // for what hangs; the compiler of a cold JVM takes long on a busy machine
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

    private void assertRefused(String message) {
        assertThatThrownBy(this::source)
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining(message);
    }

    /** C allows them in different functions. */
    @Test
    void twoStructsOfOneNameAreNotToldApart() {
        hostile(4, BtfType.Member.at("first", u32, 0));
        types.union("hostile", 4, BtfType.Member.at("second", u32, 0));
        assertRefused("gc.bpf.o has more than one struct or union 'hostile', and BTF does not distinguish them: rename"
                + " all but one");
    }

    @Test
    void aMemberLiesInItsStruct() {
        hostile(4, BtfType.Member.at("a", u32, 0), BtfType.Member.at("b", u32, 400));
        assertRefused("gc.bpf.o: member b of struct hostile does not lie in its 4 bytes");
    }

    @Test
    void aBitFieldIsANumberOfAsManyBits() {
        int number = types.add(new BtfType.FloatingPoint("float", 4));
        int array = types.array(u32, u32, 2);
        int large = types.integer("__int128", 16, 0);
        int inner = types.struct("inner", 4, BtfType.Member.at("a", u32, 0));
        for (int type : new int[] {number, array, large, inner, u32}) {
            types.struct("hostile" + type, 64, new BtfType.Member("a", type, 3, 33));
        }
        BindingsGenerator generator = BindingsGenerator.of(object(), "Hostile");
        for (int type : new int[] {number, array, large, inner, u32}) {
            assertThatThrownBy(() -> generator.withStruct("hostile" + type).source())
                    .isInstanceOf(InvalidObjectException.class)
                    .hasMessageContaining("member a of struct hostile" + type + " has 33 bits");
        }
    }

    /** 8 members at each of 14 levels are 4 trillion, in a file of 20 KB. */
    @Test
    void membersOfMembersAreNotAllVisited() throws Exception {
        int named = types.struct("leaf", 4, BtfType.Member.at("a", u32, 0));
        int nameless = types.struct("", 4);
        for (int level = 0; level < 13; level++) {
            named = types.struct("level" + level, 4, repeated("a", named));
            nameless = types.struct("", 4, repeated("", nameless));
        }
        hostile(4, BtfType.Member.at("a", named, 0), BtfType.Member.at("b", types.typedef("n", nameless), 0));
        assertRefused("has more than 50000 members");
        types.struct("only_named", 4, BtfType.Member.at("a", named, 0));
        assertThat(BindingsGenerator.of(object(), "Named")
                        .withStruct("only_named")
                        .source())
                .contains("type only_named: bytes, 4 bytes");
    }

    private static BtfType.Member[] repeated(String name, int type) {
        return Stream.generate(() -> BtfType.Member.at(name, type, 0)).limit(8).toArray(BtfType.Member[]::new);
    }

    @Test
    void anEnumerationWithTooManyNamesForAClassHasNone() throws Exception {
        hostile(
                8,
                BtfType.Member.at("fits", enumeration("fits", 4000), 0),
                BtfType.Member.at("large", enumeration("large", 4001), 4));
        assertThat(source()).contains(" FITS3999 ", "It has 4001 names").doesNotContain(" LARGE1 ");
        assertUsable();
    }

    private int enumeration(String name, int count) {
        return types.add(new BtfType.Enum32(
                name,
                4,
                false,
                IntStream.range(0, count)
                        .mapToObj(i -> new BtfType.EnumValue(name.toUpperCase(Locale.ROOT) + i, i))
                        .toList()));
    }

    @Test
    void aStructWithTooManyMembersForAClassIsRefused() {
        hostile(
                4 * 4001,
                IntStream.rangeClosed(0, 4000)
                        .mapToObj(i -> BtfType.Member.at("a" + i, u32, 4L * i))
                        .toArray(BtfType.Member[]::new));
        assertRefused("struct hostile has more than 4000 members");
    }

    /** A name has up to 4096 characters, and each line has all names on the way to a member. */
    @Test
    void longNamesOnTheWayToManyMembersAreNotRepeatedForEach() {
        int inner = types.struct(
                "leaf",
                4 * 200,
                IntStream.range(0, 200)
                        .mapToObj(i -> BtfType.Member.at("a" + i, u32, 4L * i))
                        .toArray(BtfType.Member[]::new));
        for (int level = 0; level < 13; level++) {
            inner = types.struct("level" + level, 800, BtfType.Member.at("n".repeat(4000), inner, 0));
        }
        hostile(800, BtfType.Member.at("a", inner, 0));
        assertThat(source()).hasSizeLessThan(1_000_000);
    }

    /** What is between the members of a struct is known without a look at each byte. */
    @Test
    void theSizeOfAStructCostsNothing() throws Exception {
        hostile(2_000_000_000L, BtfType.Member.at("a", u32, 4), BtfType.Member.at("b", u32, 500_000_000));
        assertThat(source()).contains("clear(0, 4);", "clear(8, 499999992);", "clear(500000004, 1499999996);");
        assertUsable();
    }

    /** The owner of the directory could put a link in the place of a folder that root has just checked. */
    @Test
    @Requires(Requirement.BPF) // root
    void rootMakesNoFolderInTheDirectoryOfAnotherUser(@TempDir Path folder) throws IOException, InterruptedException {
        Path object = Files.write(folder.resolve("globals.bpf.o"), TestObjects.bytes("globals.bpf.o"));
        Path theirs = Files.createDirectory(folder.resolve("theirs"));
        Commands.check(List.of("chown", "65534", theirs.toString()));
        assertThat(Cli.fail("generate", "--package", "org.example", "-d", theirs.toString(), object.toString()))
                .isEqualTo(
                        "bpf4j: can't make a folder in '" + theirs + "', because another user can change what that path"
                                + " refers to: make the folders of the package first");
        try (Stream<Path> entries = Files.list(theirs)) {
            assertThat(entries).isEmpty();
        }
        Path ours = Files.createDirectory(folder.resolve("ours"));
        Cli.check("generate", "--package", "org.example", "-d", ours.toString(), object.toString());
        assertThat(ours.resolve("org/example/Globals.java")).exists();
    }
}
