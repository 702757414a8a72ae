package io.bpf4j.loader.map;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_byte;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.DynamicConstantDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;

/**
 * Generates the code that reads and writes a record: for each record type a hidden class, in which every offset,
 * layout, accessor and constructor is a constant, so that the JVM compiles it to plain loads and stores without boxing.
 * For {@code record Event(long time, int pid)} the code is:
 *
 * <pre>
 *   Object decode(MemorySegment source, long offset) {
 *       return CONSTRUCTOR.invokeExact(
 *               source.get(JAVA_LONG_UNALIGNED, offset), source.get(JAVA_INT_UNALIGNED, offset + 8));
 *   }
 *
 *   void encode(Object value, MemorySegment target, long offset) {
 *       target.set(JAVA_LONG_UNALIGNED, offset, (long) ACCESSOR_0.invokeExact(value));
 *       target.set(JAVA_INT_UNALIGNED, offset + 8, (int) ACCESSOR_1.invokeExact(value));
 *   }
 * </pre>
 *
 * <p>The class belongs to this module and accesses the record through method handles. So the record's module need only
 * be open to reflection. Handles, layouts and codecs are the class data ({@link MethodHandles#classData}). Handles have
 * erased types, because the class can't name the record, and possibly not the types of its components.
 *
 * <p>Rejected: composed method handles ({@code filterArguments} and the like). The JVM inlines those into the caller
 * only if the codec is a constant there.
 *
 * <p>Tested by {@code CodecTest}.
 */
final class RecordCompiler {
    /** The generated class: an instance reads and writes records of one type. <i>Thread-safe.</i> */
    interface Compiled {
        Object decode(MemorySegment source, long offset);

        void encode(Object value, MemorySegment target, long offset);
    }

    private static final ClassDesc NAME = ClassDesc.of("io.bpf4j.loader.map.CompiledRecord");
    private static final ClassDesc SEGMENT = ClassDesc.of(MemorySegment.class.getName());
    private static final ClassDesc VALUE_LAYOUT = ClassDesc.of(ValueLayout.class.getName());
    private static final ClassDesc CODEC = ClassDesc.of(Codec.class.getName());
    private static final ClassDesc HANDLE = ConstantDescs.CD_MethodHandle;
    private static final MethodTypeDesc DECODE = MethodTypeDesc.of(CD_Object, SEGMENT, CD_long);
    private static final MethodTypeDesc ENCODE = MethodTypeDesc.of(CD_void, CD_Object, SEGMENT, CD_long);
    private static final DirectMethodHandleDesc CLASS_DATA_AT = ConstantDescs.ofConstantBootstrap(
            ClassDesc.of(MethodHandles.class.getName()), "classDataAt", CD_Object, ConstantDescs.CD_int);

    private static final int SOURCE = 1;
    private static final int SOURCE_OFFSET = 2;
    private static final int VALUE = 1;
    private static final int TARGET = 2;
    private static final int TARGET_OFFSET = 3;

    /** The constants that the code refers to by number. */
    private final List<Object> data = new ArrayList<>();

    private RecordCompiler() {}

    /**
     * Generates the code for a record type.
     *
     * @param constructor takes the values of all components in order, and returns a record
     */
    static Compiled compile(MethodHandle constructor, List<RecordCodec.Field> fields) {
        RecordCompiler compiler = new RecordCompiler();
        byte[] code = ClassFile.of()
                .build(
                        NAME,
                        type -> type.withInterfaceSymbols(ClassDesc.of(Compiled.class.getName()))
                                .withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SUPER)
                                .withMethodBody(
                                        ConstantDescs.INIT_NAME,
                                        ConstantDescs.MTD_void,
                                        0,
                                        body -> body.aload(0)
                                                .invokespecial(
                                                        CD_Object, ConstantDescs.INIT_NAME, ConstantDescs.MTD_void)
                                                .return_())
                                .withMethodBody(
                                        "decode",
                                        DECODE,
                                        ClassFile.ACC_PUBLIC,
                                        body -> compiler.decode(body, constructor, fields))
                                .withMethodBody(
                                        "encode", ENCODE, ClassFile.ACC_PUBLIC, body -> compiler.encode(body, fields)));
        try {
            MethodHandles.Lookup hidden =
                    MethodHandles.lookup().defineHiddenClassWithClassData(code, List.copyOf(compiler.data), true);
            return (Compiled) hidden.findConstructor(hidden.lookupClass(), MethodType.methodType(void.class))
                    .invoke();
        } catch (Throwable e) {
            throw new IllegalStateException("the code for a record can't be generated: " + e.getMessage(), e);
        }
    }

    private void decode(CodeBuilder body, MethodHandle constructor, List<RecordCodec.Field> fields) {
        MethodType erased = constructor.type().erase();
        body.loadConstant(constant(HANDLE, constructor.asType(erased)));
        for (RecordCodec.Field field : fields) {
            switch (field.element()) {
                case Scalar scalar -> {
                    body.aload(SOURCE);
                    body.loadConstant(constant(layoutType(scalar), scalar.layout()));
                    loadOffset(body, SOURCE_OFFSET, field.offset());
                    ClassDesc number = stored(scalar);
                    body.invokeinterface(SEGMENT, "get", MethodTypeDesc.of(number, layoutType(scalar), CD_long));
                    if (scalar == Scalar.BOOLEAN) {
                        body.ifThenElse(CodeBuilder::iconst_1, CodeBuilder::iconst_0);
                    }
                }
                case RecordCodec.Whole whole -> {
                    body.loadConstant(constant(CODEC, whole.codec())).aload(SOURCE);
                    loadOffset(body, SOURCE_OFFSET, field.offset());
                    body.invokeinterface(CODEC, "decode", DECODE);
                }
            }
        }
        body.invokevirtual(HANDLE, "invokeExact", describe(erased)).areturn();
    }

    private void encode(CodeBuilder body, List<RecordCodec.Field> fields) {
        for (RecordCodec.Field field : fields) {
            MethodType erased = field.accessor().type().erase().changeParameterType(0, Object.class);
            DynamicConstantDesc<?> accessor = constant(HANDLE, field.accessor().asType(erased));
            switch (field.element()) {
                case Scalar scalar -> {
                    body.aload(TARGET);
                    body.loadConstant(constant(layoutType(scalar), scalar.layout()));
                    loadOffset(body, TARGET_OFFSET, field.offset());
                    body.loadConstant(accessor).aload(VALUE).invokevirtual(HANDLE, "invokeExact", describe(erased));
                    body.invokeinterface(
                            SEGMENT, "set", MethodTypeDesc.of(CD_void, layoutType(scalar), CD_long, stored(scalar)));
                }
                case RecordCodec.Whole whole -> {
                    body.loadConstant(constant(CODEC, whole.codec()));
                    body.loadConstant(accessor).aload(VALUE).invokevirtual(HANDLE, "invokeExact", describe(erased));
                    body.aload(TARGET);
                    loadOffset(body, TARGET_OFFSET, field.offset());
                    body.invokeinterface(CODEC, "encode", ENCODE);
                }
            }
        }
        body.return_();
    }

    private static MethodTypeDesc describe(MethodType type) {
        return type.describeConstable().orElseThrow();
    }

    private DynamicConstantDesc<?> constant(ClassDesc type, Object value) {
        data.add(value);
        return DynamicConstantDesc.ofNamed(CLASS_DATA_AT, ConstantDescs.DEFAULT_NAME, type, data.size() - 1);
    }

    /** A boolean is a byte in memory. */
    private static ClassDesc stored(Scalar scalar) {
        return scalar == Scalar.BOOLEAN
                ? CD_byte
                : scalar.layout().carrier().describeConstable().orElseThrow();
    }

    private static ClassDesc layoutType(Scalar scalar) {
        String carrier = scalar.layout().carrier().getName();
        return VALUE_LAYOUT.nested("Of" + Character.toUpperCase(carrier.charAt(0)) + carrier.substring(1));
    }

    private static void loadOffset(CodeBuilder body, int slot, long distance) {
        body.loadLocal(TypeKind.LONG, slot);
        if (distance != 0) {
            body.loadConstant(distance).ladd();
        }
    }
}
