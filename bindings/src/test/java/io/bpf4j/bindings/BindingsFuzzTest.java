package io.bpf4j.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.fuzz.FuzzTarget;
import io.bpf4j.test.fuzz.Limits;
import io.bpf4j.test.objects.TestObjects;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * Any names of types, members and values give a class whose text the compiler can parse, and which has the same members
 * as one with harmless names: no name becomes code.
 *
 * <p>An input is lines: the names of a struct, an enumeration, a value and a typedef, then of members.
 */
class BindingsFuzzTest extends FuzzTarget {
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    private static final int MAX_MEMBERS = 32;

    @Override
    protected List<byte[]> seeds() {
        return List.of(
                bytes("event\nkind\nFIRST\nu64_t\nduration_ns\npid\nclass\nhash_code"),
                bytes("*/ static int x;/*\nenum\n\\u000a\n\"\n{\n}\n//\n<p>\n$\n$L\n$T\n@"),
                bytes("Builder\nLayout\nView\nFactory\nget\nget2\nget\n_\n1\n\u2028"));
    }

    @Override
    protected List<String> words() {
        return List.of(
                "*/",
                "/*",
                "//",
                "\\u000a",
                "\\u002a/",
                "\"",
                "\\",
                "$",
                "$L",
                "$T",
                "$$",
                "{",
                "}",
                "@",
                "<",
                "\n",
                "\r",
                "\u2028",
                "\u0085",
                "class",
                "record",
                "equals",
                "toString",
                "String",
                "int",
                "StructView",
                "Object",
                "_",
                "1",
                "\u00e9");
    }

    /** The class itself takes some 20 KB of text, and JavaPoet and the compiler a hundred times as much. */
    @Override
    protected Limits limits() {
        return Limits.USUAL
                .withExecutions(5)
                .withMaxLength(400)
                .withBytes(64 << 20, 100_000)
                .withSteps(2_000_000, 20_000);
    }

    @Override
    protected void read(byte[] input) throws IOException {
        List<String> names = Arrays.asList(new String(input, StandardCharsets.UTF_8).split("\n", -1));
        List<String> harmless = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            harmless.add(names.get(i).isEmpty() || names.get(i).contains("\0") ? "" : "name" + i);
        }
        List<Integer> hostile = shape(names);
        // Two types of one name are one class, or a class and another.
        if (!hostile.isEmpty() && new HashSet<>(names).size() == names.size() && isNew(names)) {
            assertThat(hostile).isEqualTo(shape(harmless));
        }
    }

    /** Whether the object has no type of such a name yet. */
    private static boolean isNew(List<String> names) {
        Btf types = ObjectSpec.parse("gc.bpf.o", TestObjects.bytes("gc.bpf.o", ORDER))
                .btf()
                .orElseThrow();
        return names.stream().allMatch(name -> types.idsNamed(name).length == 0);
    }

    /** How many members of each kind each class of the text has, in order; empty if the names are refused. */
    private static List<Integer> shape(List<String> names) throws IOException {
        String source;
        try {
            source = BindingsGenerator.of(object(names), "Fuzzed")
                    .withStruct(structName(names))
                    .source();
        } catch (InvalidObjectException | MalformedDataException e) {
            assertThat(e.getMessage()).contains("gc.bpf.o");
            return List.of();
        }
        DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
        JavaFileObject file =
                new SimpleJavaFileObject(URI.create("string:///Fuzzed.java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return source;
                    }
                };
        JavacTask task = (JavacTask) Objects.requireNonNull(ToolProvider.getSystemJavaCompiler(), "a compiler")
                .getTask(null, null, problems, List.of("-proc:none"), null, List.of(file));
        List<Integer> shape = new ArrayList<>();
        for (CompilationUnitTree unit : task.parse()) {
            assertThat(unit.getTypeDecls()).hasSize(1);
            unit.getTypeDecls().forEach(type -> count(type, shape));
        }
        assertThat(problems.getDiagnostics()).isEmpty();
        return shape;
    }

    private static void count(Tree type, List<Integer> shape) {
        shape.add(type.getKind().name().hashCode());
        if (type instanceof ClassTree members) {
            shape.add(members.getMembers().size());
            members.getMembers().forEach(member -> count(member, shape));
        }
    }

    private static String structName(List<String> names) {
        return names.getFirst().isEmpty() || names.getFirst().contains("\0") ? "fuzzed" : names.getFirst();
    }

    private static String name(List<String> names, int index) {
        String name = index < names.size() ? names.get(index) : "";
        // A NUL would end the name in the table of strings.
        return name.contains("\0") ? "" : name;
    }

    private static ObjectSpec object(List<String> names) {
        byte[] elf = TestObjects.bytes("gc.bpf.o", ORDER);
        BtfBuilder types =
                BtfBuilder.from(ObjectSpec.parse("gc.bpf.o", elf).btf().orElseThrow());
        int number = types.integer("unsigned int", 4, 0);
        int kind = types.add(new BtfType.Enum32(
                name(names, 1),
                4,
                false,
                List.of(new BtfType.EnumValue(name(names, 2), 1), new BtfType.EnumValue("B", 2))));
        int alias = types.typedef(name(names, 3).isEmpty() ? "alias" : name(names, 3), number);
        int[] kinds = {number, kind, alias, types.pointer(number), types.array(alias, number, 2)};
        List<BtfType.Member> members = new ArrayList<>();
        for (int i = 4; i < Math.min(names.size(), MAX_MEMBERS); i++) {
            members.add(BtfType.Member.at(name(names, i), kinds[i % kinds.length], 8L * members.size()));
        }
        types.struct(structName(names), 8L * Math.max(1, members.size()), members.toArray(BtfType.Member[]::new));
        return ObjectSpec.parse("gc.bpf.o", withTypes(elf, types.toBytes(ORDER)));
    }

    /** The object with other types: they are appended, and its section of types is moved to them. */
    private static byte[] withTypes(byte[] elf, byte[] btf) {
        ByteBuffer bytes =
                ByteBuffer.wrap(Arrays.copyOf(elf, elf.length + btf.length)).order(ORDER);
        bytes.put(elf.length, btf);
        int headers = (int) bytes.getLong(0x28);
        int names = (int) bytes.getLong(headers + 64 * bytes.getShort(0x3e) + 0x18);
        byte[] wanted = bytes(".BTF\0");
        for (int header = headers; header < headers + 64 * bytes.getShort(0x3c); header += 64) {
            int name = names + bytes.getInt(header);
            if (Arrays.equals(elf, name, name + wanted.length, wanted, 0, wanted.length)) {
                bytes.putLong(header + 0x18, elf.length).putLong(header + 0x20, btf.length);
            }
        }
        return bytes.array();
    }
}
