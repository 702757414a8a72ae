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
import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.ProgramArray;
import io.bpf4j.loader.RedirectMap;
import io.bpf4j.loader.binding.EventMap;
import io.bpf4j.loader.binding.ObjectLayout;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.map.ArenaMap;
import io.bpf4j.loader.map.BloomFilterMap;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.MapOfMaps;
import io.bpf4j.loader.map.QueueMap;
import io.bpf4j.loader.map.StackTraceMap;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.GlobalSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.StructOpsSpec;
import io.bpf4j.sys.kernel.MapType;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
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
            "StructView",
            "TypedMap",
            "UncheckedIOException",
            "ValueCodecs",
            "View");

    /** The prefix of the maps that {@code usdt.bpf.h} defines. */
    private static final String OF_HEADERS = "__bpf_usdt_";

    /** The prefix of externs that the loader sets, such as {@code LINUX_KERNEL_VERSION}. */
    private static final String OF_LOADER = "LINUX_";

    /** Pointers of such names bring a type into BTF: {@code struct event *unused_event __attribute__((unused));}. */
    private static final String UNUSED = "unused";

    /** Each has at least one method, and no class has more than 65,535 constants that methods refer to. */
    private static final int MAX_PARTS = 4_000;

    /** The code that makes an array of them has at most 65,535 bytes, 8 for each. */
    private static final int MAX_LINES = 8_000;

    private final ObjectSpec spec;
    private final ClassName name;
    private final BindingsGenerator.Options options;
    private final Map<String, String> events;
    private final Btf btf;
    private final TypeModel types;
    private final JavaNames names = new JavaNames(OWN_METHODS);
    private final ClassName builderName;

    /** The parts of the object that the class relies on, as {@link ObjectLayout} names them. */
    private final List<String> parts = new ArrayList<>();

    ObjectWriter(
            ObjectSpec spec, Btf btf, ClassName name, BindingsGenerator.Options options, Map<String, String> events) {
        this.spec = spec;
        this.btf = btf;
        this.name = name;
        this.options = options;
        this.events = events;
        this.builderName = name.nestedClass("Builder");
        Set<String> taken = new HashSet<>(USED_TYPES);
        taken.add(name.simpleName());
        this.types = new TypeModel(btf, name, new JavaNames(taken));
    }

    /** Adds what the class relies on. */
    private void rely(String kind, String part) {
        if (part.indexOf(' ') >= 0) {
            throw new InvalidObjectException(spec.source() + " has a " + kind + " '" + CText.safe(part)
                    + "', and no class can have a name with a blank");
        }
        parts.add(kind + " " + part);
        if (parts.size() > MAX_PARTS) {
            throw new InvalidObjectException(spec.source() + " has more than " + MAX_PARTS
                    + " maps, programs and variables, which are too many for a class");
        }
    }

    TypeSpec write() {
        List<MethodSpec> maps = new ArrayList<>();
        List<MethodSpec> programs = new ArrayList<>();
        List<MethodSpec> globals = new ArrayList<>();
        TypeSpec.Builder builder = builder();
        for (MapSpec map : spec.maps()) {
            if (!map.isData() && !map.name().startsWith(OF_HEADERS)) {
                rely("map", map.name());
                maps.add(map(map));
            }
        }
        for (ProgramSpec program : spec.programs()) {
            rely("program", program.name());
            programs.add(program(program));
        }
        for (StructOpsSpec variable : spec.structOps()) {
            programs.add(structOps(variable));
        }
        addGlobals(globals, builder);
        for (String struct : options.structs()) {
            rely("type", struct);
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
        return type.addType(layout()).build();
    }

    /** The methods of global variables, and those of the builder that set them before the load. */
    private void addGlobals(List<MethodSpec> methods, TypeSpec.Builder builder) {
        Set<String> seen = new HashSet<>();
        for (GlobalSpec global : spec.globals()) {
            // Only the first of several static variables can be named.
            if (global.exported() && !isForNobody(global) && seen.add(global.name())) {
                types.shape(global.typeId(), JavaNames.type(global.name())).ifPresent(shape -> {
                    rely("global", global.name());
                    global(global, shape, methods, builder);
                });
            }
        }
    }

    /** At the end of the class, because it is long and for no reader. */
    private TypeSpec layout() {
        List<CodeBlock> lines = new ArrayList<>();
        for (String part : new LinkedHashSet<>(parts)) {
            ObjectLayout.lines(spec, List.of(part)).forEach(line -> lines.add(CText.literal(line)));
            if (lines.size() > MAX_LINES) {
                throw new InvalidObjectException(spec.source() + " has maps, variables and types with more than "
                        + MAX_LINES + " members together, which are too many for a class");
            }
        }
        return TypeSpec.classBuilder("Layout")
                .addJavadoc("The facts about the object that this class relies on.\n")
                .addModifiers(Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL)
                .addField(FieldSpec.builder(ObjectLayout.class, "LINES", Modifier.STATIC, Modifier.FINAL)
                        .initializer("$T.of(\n$>$>$L$<$<)", ObjectLayout.class, CodeBlock.join(lines, ",\n"))
                        .build())
                .build();
    }

    /** Whether the loader sets it, or it is there only for the type that it points to. */
    private boolean isForNobody(GlobalSpec global) {
        return global.name().startsWith(OF_LOADER)
                || (global.name().startsWith(UNUSED) && btf.type(btf.resolve(global.typeId())) instanceof BtfType.Ptr);
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

    private static MethodSpec.Builder method(String name) {
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

    private MethodSpec structOps(StructOpsSpec variable) {
        return method(names.claim("attach" + JavaNames.type(variable.name())))
                .addJavadoc(
                        "Attaches {@code struct $L $L}.\n", CText.safe(variable.type()), CText.safe(variable.name()))
                .returns(Link.class)
                .addStatement("return object.attachStructOps($L)", CText.literal(variable.name()))
                .build();
    }

    private MethodSpec map(MapSpec map) {
        Access access = access(map);
        return method(names.claim(JavaNames.member(map.name()), "Map"))
                .addJavadoc("$L", comment(map))
                .returns(access.type())
                .addStatement("return $L", access.expression())
                .build();
    }

    private String comment(MapSpec map) {
        StringBuilder text = new StringBuilder("The map {@code " + CText.safe(map.name()) + "}: ");
        text.append(
                map.type().map(known -> known.name().toLowerCase(Locale.ROOT)).orElse("type " + map.typeNumber()));
        spec.declaredType(map.keyTypeId(), map.keySize())
                .ifPresent(key -> text.append(", keys {@code ")
                        .append(CText.declaration(btf, key.id(), ""))
                        .append('}'));
        spec.declaredType(map.valueTypeId(), map.valueSize())
                .ifPresent(value -> text.append(", values {@code ")
                        .append(CText.declaration(btf, value.id(), ""))
                        .append('}'));
        Optional.ofNullable(events.get(map.name()))
                .ifPresent(event -> text.append(", records {@code ")
                        .append(CText.safe(event))
                        .append('}'));
        return text.append(".\n").toString();
    }

    /** How a map is accessed: the type of the view, and what makes it. */
    private record Access(TypeName type, CodeBlock expression) {}

    private Access access(MapSpec map) {
        CodeBlock plain = CodeBlock.of("object.map($L)", CText.literal(map.name()));
        Access untyped = new Access(ClassName.get(BpfMap.class), plain);
        if (map.type().isEmpty()) {
            return untyped;
        }
        return switch (map.type().get()) {
            case RINGBUF, PERF_EVENT_ARRAY -> {
                Optional<Shape> event =
                        Optional.ofNullable(events.get(map.name())).flatMap(this::event);
                yield event.map(shape -> eventMap((Shape.Declared) shape, plain))
                        .orElse(untyped);
            }
            case ARRAY, PERCPU_ARRAY -> {
                Shape index = new Shape.Numeric(Scalar.S32);
                yield map.keySize() == 4
                        ? value(map)
                                .map(shape -> table(map, index, shape, plain))
                                .orElse(untyped)
                        : untyped;
            }
            case HASH,
                    LRU_HASH,
                    PERCPU_HASH,
                    LRU_PERCPU_HASH,
                    LPM_TRIE,
                    SK_STORAGE,
                    TASK_STORAGE,
                    INODE_STORAGE,
                    CGRP_STORAGE -> {
                Optional<Shape> key = key(map);
                Optional<Shape> value = value(map);
                yield key.isPresent() && value.isPresent() ? table(map, key.get(), value.get(), plain) : untyped;
            }
            case QUEUE, STACK ->
                value(map).map(shape -> one(QueueMap.class, shape, plain)).orElse(untyped);
            case BLOOM_FILTER ->
                value(map).map(shape -> one(BloomFilterMap.class, shape, plain)).orElse(untyped);
            case ARRAY_OF_MAPS -> one(MapOfMaps.class, new Shape.Numeric(Scalar.S32), plain);
            case HASH_OF_MAPS ->
                key(map).map(shape -> one(MapOfMaps.class, shape, plain)).orElse(untyped);
            case PROG_ARRAY -> of(ClassName.get(ProgramArray.class), ProgramArray.class, plain);
            case DEVMAP, DEVMAP_HASH, CPUMAP -> of(ClassName.get(RedirectMap.class), RedirectMap.class, plain);
            case STACK_TRACE -> of(ClassName.get(StackTraceMap.class), StackTraceMap.class, plain);
            case ARENA -> of(ClassName.get(ArenaMap.class), ArenaMap.class, plain);
            default -> untyped;
        };
    }

    private Optional<Shape> event(String struct) {
        rely("type", struct);
        return types.shape(TypeModel.find(btf, struct).orElseThrow(), JavaNames.type(struct));
    }

    private Optional<Shape> key(MapSpec map) {
        return element(map.keyTypeId(), map.keySize(), JavaNames.type(map.name()) + "Key");
    }

    private Optional<Shape> value(MapSpec map) {
        return element(map.valueTypeId(), map.valueSize(), JavaNames.type(map.name()) + "Value");
    }

    private Optional<Shape> element(int typeId, int size, String nameless) {
        return spec.declaredType(typeId, size).flatMap(_ -> types.shape(typeId, nameless));
    }

    private static Access of(TypeName type, Class<?> view, CodeBlock map) {
        return new Access(type, CodeBlock.of("$T.of($L)", view, map));
    }

    private static Access one(Class<?> view, Shape shape, CodeBlock map) {
        return new Access(
                ParameterizedTypeName.get(ClassName.get(view), shape.type().box()),
                CodeBlock.of("$T.of($L, $L)", view, map, shape.codec()));
    }

    private static Access eventMap(Shape.Declared shape, CodeBlock map) {
        return new Access(
                ParameterizedTypeName.get(ClassName.get(EventMap.class), shape.type(), shape.viewName()),
                CodeBlock.of("$T.of($L, $L)", EventMap.class, map, shape.codec()));
    }

    private static Access table(MapSpec map, Shape key, Shape value, CodeBlock plain) {
        boolean perCpu = map.type().map(MapType::isPerCpu).orElse(false);
        TypeName one = value.type().box();
        TypeName values = perCpu ? ParameterizedTypeName.get(ClassName.get(List.class), one) : one;
        return new Access(
                ParameterizedTypeName.get(
                        ClassName.get(TypedMap.class), key.type().box(), values),
                CodeBlock.of(
                        "$T.$L($L, $L, $L)",
                        TypedMap.class,
                        perCpu ? "perCpu" : "of",
                        plain,
                        key.codec(),
                        value.codec()));
    }

    private void global(GlobalSpec global, Shape shape, List<MethodSpec> methods, TypeSpec.Builder builder) {
        DataSection data = spec.map(global.map()).data();
        boolean constant = data == null || data.readOnly();
        String java = names.claim(JavaNames.member(global.name()), "Variable");
        String declaration = CText.declaration(btf, global.typeId(), global.name());
        Accessors code = Accessors.of(shape, CText.literal(global.name()));

        builder.addMethod(method(java)
                .addJavadoc("Sets {@code $L}.\n", declaration)
                .returns(builderName)
                .addParameter(shape.type(), "value")
                .addStatement(code.beforeLoad())
                .addStatement("return this")
                .build());
        methods.add(method(java)
                .addJavadoc(constant ? "{@code $L}; set when the object was loaded.\n" : "{@code $L}.\n", declaration)
                .returns(shape.type())
                .addStatement(code.get())
                .build());
        if (constant) {
            return;
        }
        methods.add(method(java)
                .addJavadoc("Sets {@code $L}.\n", declaration)
                .addParameter(shape.type(), "value")
                .addStatement(code.set())
                .build());
        if (shape instanceof Shape.Declared declared && !declared.isEnum()) {
            methods.add(method(names.claim(java + "View"))
                    .addJavadoc(
                            "{@code $L} in place: its members are read and set one by one. Linux 5.5.\n", declaration)
                    .returns(declared.viewName())
                    .addStatement("return $L.view(object.global($L))", declared.codec(), CText.literal(global.name()))
                    .build());
        }
    }

    /** How a global variable is set and read: plain numbers by methods of their own, other types by a codec. */
    private record Accessors(CodeBlock beforeLoad, CodeBlock get, CodeBlock set) {
        static Accessors of(Shape shape, CodeBlock name) {
            if (shape instanceof Shape.Numeric(Scalar scalar) && scalar.isPlain()) {
                return new Accessors(
                        CodeBlock.of("loader.global($L, value)", name),
                        CodeBlock.of("return object.global($L).get$L()", name, scalar.accessor()),
                        CodeBlock.of("object.global($L).set$L(value)", name, scalar.accessor()));
            }
            return new Accessors(
                    CodeBlock.of("loader.global($L, $L, value)", name, shape.codec()),
                    CodeBlock.of("return object.global($L).get($L)", name, shape.codec()),
                    CodeBlock.of("object.global($L).set($L, value)", name, shape.codec()));
        }
    }
}
