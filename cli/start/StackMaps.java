import static java.lang.classfile.ClassFile.JAVA_8_VERSION;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFile.ClassHierarchyResolverOption;
import java.lang.classfile.ClassFile.ConstantPoolSharingOption;
import java.lang.classfile.ClassFile.StackMapsOption;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * Copies a jar, and adds stack maps to its classes that have none. The launcher runs this file on picocli.
 *
 * <p>Why: picocli's classes are in the format of Java 5, from before class files had stack maps (JVMS 4.10.1). Without
 * them the JVM verifies a class by inferring all types anew, at each start, and an AOT cache leaves such a class out,
 * together with all that refer to it. The code of the methods stays what it is.
 */
class StackMaps {
    /** Class files have stack maps from format 50 (Java 6) on. The copies get format 52, in which they are required. */
    private static final int FIRST_WITH_STACK_MAPS = 50;

    public static void main(String[] args) throws IOException {
        Path from = Path.of(args[0]);
        try (URLClassLoader classes = new URLClassLoader(new URL[] {from.toUri().toURL()}, null);
                ZipFile in = new ZipFile(from.toFile());
                ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(Path.of(args[1])))) {
            ClassFile format = ClassFile.of(
                    StackMapsOption.GENERATE_STACK_MAPS,
                    // Methods that share the constant pool of their model would be copied as they are.
                    ConstantPoolSharingOption.NEW_POOL,
                    ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(classes)));
            for (ZipEntry entry : Collections.list(in.entries())) {
                byte[] bytes = in.getInputStream(entry).readAllBytes();
                boolean old = entry.getName().endsWith(".class") && majorVersion(bytes) < FIRST_WITH_STACK_MAPS;
                ZipEntry copy = new ZipEntry(entry.getName());
                copy.setTime(entry.getTime());
                out.putNextEntry(copy);
                out.write(old ? withStackMaps(bytes, format) : bytes);
                out.closeEntry();
            }
        }
    }

    private static int majorVersion(byte[] bytes) {
        return ((bytes[6] & 0xff) << 8) | (bytes[7] & 0xff);
    }

    private static byte[] withStackMaps(byte[] bytes, ClassFile format) {
        return format.transformClass(
                format.parse(bytes),
                ClassTransform.ACCEPT_ALL.andThen(
                        ClassTransform.endHandler(built -> built.withVersion(JAVA_8_VERSION, 0))));
    }
}
