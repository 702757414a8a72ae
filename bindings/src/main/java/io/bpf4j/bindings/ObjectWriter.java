package io.bpf4j.bindings;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.FieldSpec;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.ParameterizedTypeName;
import com.palantir.javapoet.TypeName;
import com.palantir.javapoet.TypeSpec;
import com.palantir.javapoet.WildcardTypeName;
import io.bpf4j.btf.Btf;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.StructOpsSpec;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import javax.lang.model.element.Modifier;

/** The class of an object. <i>Confined.</i> */
final class ObjectWriter {
    /** Methods of the class and its builder. */
    private static final Set<String> OWN_METHODS = Set.of("open", "load", "configure", "object", "attach", "close");

    /** Names that a nested class must not have, since the text of the class has them. */
    private static final Set<String> USED_TYPES = Set.of(
            "ArenaMap",
            "Arrays",
            "BloomFilterMap",
            "BpfLoader",
            "BpfMap",
            "BpfObject",
            "Builder",
            "Codec",
            "Consumer",
            "EventMap",
            "Factory", // of StructView, which views inherit
            "HexFormat",
            "IOException",
            "IllegalArgumentException",
            "IllegalStateException",
            "InputStream",
            "Layout",
            "Integer",
            "Boolean",
            "Byte",
            "Double",
            "Float",
            "Link",
            "List",
            "Long",
            "MapOfMaps",
            "MemorySegment",
            "Object",
            "ObjectLayout",
            "ObjectSpec",
            "Objects",
            "Override",
            "Path",
            "Program",
            "QueueMap",
            "Record",
            "Short",
            "StackTraceMap",
            "String",
            "StructCodec",
            "StructOpsSpec",
            "StructView",
            "TypedMap",
            "UnaryOperator",
            "UncheckedIOException",
            "ValueCodecs",
            "View");

    /** The prefix of the maps that {@code usdt.bpf.h} defines. */
    private static final String OF_HEADERS = "__bpf_usdt_";

    private final ObjectSpec spec;
    private final ClassName name;
    private final BindingsGenerator.Options options;
    private final Btf btf;
    private final TypeModel types;
    private final JavaNames names = new JavaNames(OWN_METHODS);
    private final ClassName builderName;
    private final LayoutParts parts;
    private final MapWriter mapWriter;
    private final VariableWriter variableWriter;

    ObjectWriter(
            ObjectSpec spec, Btf btf, ClassName name, BindingsGenerator.Options options, Map<String, String> events) {
        this.spec = spec;
        this.btf = btf;
        this.name = name;
        this.options = options;
        this.builderName = name.nestedClass("Builder");
        Set<String> taken = new HashSet<>(USED_TYPES);
        taken.add(name.simpleName());
        this.types = new TypeModel(btf, name, new JavaNames(taken));
        this.parts = new LayoutParts(spec);
        this.mapWriter = new MapWriter(spec, btf, types, names, parts, events);
        this.variableWriter = new VariableWriter(spec, btf, types, names, parts, builderName);
    }

    TypeSpec write() {
        List<MethodSpec> maps = new ArrayList<>();
        List<MethodSpec> programs = new ArrayList<>();
        List<MethodSpec> globals = new ArrayList<>();
        TypeSpec.Builder builder = builder();
        for (MapSpec map : spec.maps()) {
            if (!map.isData() && !map.name().startsWith(OF_HEADERS)) {
                maps.add(mapWriter.write(map));
            }
        }
        for (ProgramSpec program : spec.programs()) {
            parts.add("program", program.name());
            programs.add(program(program));
        }
        for (StructOpsSpec variable : spec.structOps()) {
            programs.add(structOps(variable));
            builder.addMethod(structOpsBeforeLoad(variable));
        }
        variableWriter.write(globals, builder);
        for (String struct : options.structs()) {
            parts.add("type", struct);
            types.shape(TypeModel.find(btf, struct).orElseThrow(), JavaNames.type(struct));
        }
        TypeSpec.Builder type = TypeSpec.classBuilder(name)
                .addJavadoc("""
                        The BPF object {@code $L}: its programs, maps and global variables by name.
                        Whoever loads it must close it.
                        """, CText.safe(options.object()))
                .addModifiers(Modifier.PUBLIC, Modifier.FINAL)
                .addSuperinterface(AutoCloseable.class)
                .addField(constant(ClassName.get(String.class), "OBJECT", resource()))
                .addField(FieldSpec.builder(BpfObject.class, "object", Modifier.PRIVATE, Modifier.FINAL)
                        .build())
                .addMethod(MethodSpec.constructorBuilder()
                        .addModifiers(Modifier.PRIVATE)
                        .addParameter(BpfObject.class, "object")
                        .addStatement("this.object = object")
                        .build());
        type.addMethod(openResource()).addMethod(openFile()).addMethod(openSpec());
        addObject(type);
        type.addMethods(programs).addMethods(maps).addMethods(globals);
        type.addType(builder.addMethod(load()).build());
        for (NamedType named : types.all()) {
            type.addType(named.isEnum() ? EnumWriter.write(named) : StructWriter.write(named));
        }
        return type.addType(parts.type()).build();
    }

    private static FieldSpec constant(TypeName type, String name, CodeBlock value) {
        return FieldSpec.builder(type, name, Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL)
                .initializer(value)
                .build();
    }

    /** The name of the object's resource, for the machine that runs. */
    private CodeBlock resource() {
        CodeBlock little = CText.literal(options.object());
        return options.bothOrders()
                ? CodeBlock.of(
                        "$T.nativeOrder() == $T.BIG_ENDIAN ? $L : $L",
                        ByteOrder.class,
                        ByteOrder.class,
                        CText.literal("big/" + options.object()),
                        little)
                : little;
    }

    private MethodSpec openResource() {
        CodeBlock missing = CodeBlock.of(
                "$S + OBJECT\n$>$>+ $L$<$<",
                "there is no resource ",
                CText.literal(
                        " beside " + name.canonicalName() + ": put the object there, or call open with its path"));
        return method("open")
                .addJavadoc(
                        """
                        Reads the object from the resource {@code $L} beside this class$L.

                        @throws IllegalStateException if there is no such resource
                        @throws io.bpf4j.loader.error.InvalidObjectException if it is not the object of this class
                        """,
                        CText.safe(options.object()),
                        options.bothOrders() ? ", on a big-endian machine in its folder big" : "")
                .addModifiers(Modifier.STATIC)
                .returns(builderName)
                .beginControlFlow("try ($T object = $T.class.getResourceAsStream(OBJECT))", InputStream.class, name)
                .beginControlFlow("if (object == null)")
                .addStatement("throw new $T($L)", IllegalStateException.class, missing)
                .endControlFlow()
                .addStatement("return open($T.parse(OBJECT, object.readAllBytes()))", ObjectSpec.class)
                .nextControlFlow("catch ($T e)", IOException.class)
                .addStatement("throw new $T($S + OBJECT, e)", UncheckedIOException.class, "reading resource ")
                .endControlFlow()
                .build();
    }

    private MethodSpec openFile() {
        return method("open")
                .addJavadoc("""
                        Reads the object from a file.

                        @throws IOException if the file can't be read
                        @throws io.bpf4j.loader.error.InvalidObjectException if it is not the object of this class
                        """)
                .addModifiers(Modifier.STATIC)
                .returns(builderName)
                .addParameter(Path.class, "file")
                .addException(IOException.class)
                .addStatement("return open($T.read(file))", ObjectSpec.class)
                .build();
    }

    private MethodSpec openSpec() {
        return method("open")
                .addJavadoc("""
                        Takes an object that was read and may have been edited.

                        @throws io.bpf4j.loader.error.InvalidObjectException if it is not the object of this class
                        """)
                .addModifiers(Modifier.STATIC)
                .returns(builderName)
                .addParameter(ObjectSpec.class, "spec")
                .addStatement("Layout.LINES.check(spec, $T.class)", name)
                .addStatement("return new $T(spec)", builderName)
                .build();
    }

    static MethodSpec.Builder method(String name) {
        return MethodSpec.methodBuilder(name).addModifiers(Modifier.PUBLIC);
    }

    private static void addObject(TypeSpec.Builder type) {
        type.addMethod(method("attach")
                .addJavadoc("""
                        Attaches each program to the target in its section name: all, or none.

                        @return a link that detaches all of them
                        @throws io.bpf4j.loader.error.AttachException if one can't be attached; then none is attached
                        """)
                .returns(Link.class)
                .addStatement("return object.attachAll()")
                .build());
        type.addMethod(method("object")
                .addJavadoc("The loaded object. It is closed with this one.\n")
                .returns(BpfObject.class)
                .addStatement("return object")
                .build());
        type.addMethod(method("close")
                .addJavadoc("Closes programs and maps; links stay attached. A second call does nothing.\n")
                .addAnnotation(Override.class)
                .addStatement("object.close()")
                .build());
        type.addMethod(method("toString")
                .addAnnotation(Override.class)
                .returns(String.class)
                .addStatement("return object.toString()")
                .build());
    }

    private TypeSpec.Builder builder() {
        return TypeSpec.classBuilder(builderName)
                .addJavadoc("Settings for a load of {@link $T}. Use it once.\n", name)
                .addModifiers(Modifier.PUBLIC, Modifier.STATIC, Modifier.FINAL)
                .addField(BpfLoader.class, "loader", Modifier.PRIVATE, Modifier.FINAL)
                .addMethod(MethodSpec.constructorBuilder()
                        .addModifiers(Modifier.PRIVATE)
                        .addParameter(ObjectSpec.class, "spec")
                        .addStatement("loader = $T.of(spec)", BpfLoader.class)
                        .build())
                .addMethod(method("configure")
                        .addJavadoc("Sets anything else: sizes of maps, targets of programs, the kernel's types.\n")
                        .returns(builderName)
                        .addParameter(
                                ParameterizedTypeName.get(
                                        ClassName.get(Consumer.class), WildcardTypeName.supertypeOf(BpfLoader.class)),
                                "edit")
                        .addStatement("edit.accept(loader)")
                        .addStatement("return this")
                        .build());
    }

    private MethodSpec load() {
        return method("load")
                .addJavadoc("""
                        Loads the object: all of it, or nothing.

                        @throws io.bpf4j.sys.BpfException if it can't be loaded; nothing is left in the kernel
                        """)
                .returns(name)
                .addStatement("return new $T(loader.load())", name)
                .build();
    }

    private MethodSpec program(ProgramSpec program) {
        return method(names.claim(JavaNames.member(program.name()), "Program"))
                .addJavadoc(
                        "{@code SEC(\"$L\")} {@code $L}.\n",
                        CText.safe(program.sectionName()),
                        CText.safe(program.name()))
                .returns(Program.class)
                .addStatement("return object.program($L)", CText.literal(program.name()))
                .build();
    }

    private MethodSpec structOpsBeforeLoad(StructOpsSpec variable) {
        return method(names.claim(JavaNames.member(variable.name()), "StructOps"))
                .addJavadoc("""
                        Sets values and functions of {@code struct $L $L}, or whether it is created and attached.

                        @param edit by the names of members
                        """, CText.safe(variable.type()), CText.safe(variable.name()))
                .returns(builderName)
                .addParameter(ParameterizedTypeName.get(UnaryOperator.class, StructOpsSpec.class), "edit")
                .addStatement("loader.structOps($L, edit)", CText.literal(variable.name()))
                .addStatement("return this")
                .build();
    }

    private MethodSpec structOps(StructOpsSpec variable) {
        return method(names.claim("attach" + JavaNames.type(variable.name())))
                .addJavadoc(
                        "Attaches {@code struct $L $L}.\n", CText.safe(variable.type()), CText.safe(variable.name()))
                .returns(Link.class)
                .addStatement("return object.attachStructOps($L)", CText.literal(variable.name()))
                .build();
    }
}
