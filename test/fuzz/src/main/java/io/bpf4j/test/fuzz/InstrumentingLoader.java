package io.bpf4j.test.fuzz;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Instruction;
import java.lang.classfile.constantpool.LongEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.StringEntry;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Loads the classes of this project anew, and those of libraries if wanted, with a call of {@link Coverage#hit} in each
 * block; those of tests without. It also collects the constants of the code: what a parser compares its input with.
 * <i>Thread-safe</i> as class loaders are.
 *
 * <p>Rejected: an agent, which could not be used beside tests that run the code as it is.
 */
final class InstrumentingLoader extends ClassLoader {
    private static final String OURS = "io.bpf4j.";

    /** The libraries that read compressed files. */
    private static final List<String> LIBRARIES = List.of("org.apache.commons.compress.", "org.tukaani.xz.");

    /** Its classes are shared with the loader above. */
    private static final String FUZZER = "io.bpf4j.test.fuzz.";

    private static final ClassDesc COVERAGE = ClassDesc.of(Coverage.class.getName());
    private static final MethodTypeDesc HIT = MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int);
    private static final int MAX_CONSTANT_CHARS = 40;

    private final ClassFile classFile = ClassFile.of(
            // Variables have ranges, whose ends would look like targets of jumps.
            ClassFile.DebugElementsOption.DROP_DEBUG);

    private final boolean withLibraries;
    private final Set<String> texts = new LinkedHashSet<>();
    private final Set<Long> numbers = new LinkedHashSet<>();
    /** By class, the numbers of its blocks: the first one, and the one after the last. */
    private final Map<String, int[]> blocks = new LinkedHashMap<>();

    /** @param withLibraries whether those that read compressed files are instrumented, too, which takes a second */
    InstrumentingLoader(boolean withLibraries) {
        super(InstrumentingLoader.class.getClassLoader());
        this.withLibraries = withLibraries;
    }

    /** Texts that occur in the code that was loaded so far. */
    synchronized Set<String> texts() {
        return new LinkedHashSet<>(texts);
    }

    /** Numbers that occur in the code that was loaded so far. */
    synchronized Set<Long> numbers() {
        return new LinkedHashSet<>(numbers);
    }

    /** The blocks of each class that was loaded so far: the first one, and the one after the last. */
    synchronized Map<String, int[]> blocks() {
        return new LinkedHashMap<>(blocks);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        boolean isOurs = name.startsWith(OURS) && !name.startsWith(FUZZER);
        if (!isOurs && (!withLibraries || LIBRARIES.stream().noneMatch(name::startsWith))) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            return known != null ? known : define(name);
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        URL url = getParent().getResource(name.replace('.', '/') + ".class");
        if (url == null) {
            throw new ClassNotFoundException(name);
        }
        byte[] bytes;
        try (InputStream in = url.openStream()) {
            bytes = in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException("reading " + url, e);
        }
        boolean isTest =
                url.toString().contains("/test-classes/") || url.toString().contains("-tests.jar!");
        byte[] code = isTest ? bytes : instrumented(name, bytes);
        return defineClass(name, code, 0, code.length);
    }

    private synchronized byte[] instrumented(String name, byte[] bytes) {
        ClassModel model = classFile.parse(bytes);
        for (PoolEntry entry : model.constantPool()) {
            if (entry instanceof StringEntry text) {
                addText(text.stringValue());
            } else if (entry instanceof LongEntry number) {
                numbers.add(number.longValue());
            }
        }
        int first = Coverage.newBlock();
        byte[] code = classFile.transformClass(
                model, ClassTransform.transformingMethodBodies(CodeTransform.ofStateful(BlockCounter::new)));
        blocks.put(name, new int[] {first + 1, Coverage.newBlock()});
        return code;
    }

    private void addText(String text) {
        if (!text.isEmpty()
                && text.length() <= MAX_CONSTANT_CHARS
                && StandardCharsets.ISO_8859_1.newEncoder().canEncode(text)) {
            texts.add(text);
        }
    }

    /** Puts the calls into one method. */
    private final class BlockCounter implements CodeTransform {
        private boolean begins = true;

        @Override
        public void accept(CodeBuilder builder, CodeElement element) {
            if (element instanceof Instruction instruction) {
                if (begins) {
                    builder.loadConstant(Coverage.newBlock());
                    builder.invokestatic(COVERAGE, "hit", HIT);
                }
                begins = instruction instanceof BranchInstruction;
                if (instruction instanceof ConstantInstruction constant
                        && constant.constantValue() instanceof Integer number) {
                    numbers.add((long) number);
                }
            } else if (element instanceof LabelTarget) {
                begins = true;
            }
            builder.with(element);
        }
    }
}
