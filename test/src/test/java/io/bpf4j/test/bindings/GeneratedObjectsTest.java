package io.bpf4j.test.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.bindings.BindingsGenerator;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.BpfException;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.GeneratedClasses;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.LibbpfTools;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URLClassLoader;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * The classes of all objects at hand, those of the package libbpf-tools among them if it is installed: they compile
 * without a warning, load what the loader loads, and return every map, program and variable.
 */
@Requires(Requirement.BPF)
@ExtendWith(LeakCheck.class)
@Timeout(600)
class GeneratedObjectsTest {
    @TempDir
    Path folder;

    /** The objects for machines of this byte order, by names of packages. */
    private static Map<String, ObjectSpec> objects() {
        Map<String, ObjectSpec> objects = new LinkedHashMap<>();
        Stream.concat(TestObjects.names().stream(), TestObjects.corpus().stream())
                .forEach(name -> add(objects, name, TestObjects.bytes(name)));
        if (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) {
            LibbpfTools.objects().forEach((name, bytes) -> add(objects, "tools/" + name, bytes));
        }
        return objects;
    }

    private static void add(Map<String, ObjectSpec> objects, String name, byte[] bytes) {
        String packageName = "p" + objects.size();
        objects.put(packageName, ObjectSpec.parse(name, bytes));
    }

    @Test
    void everyClassCompilesAndLoadsWhatTheLoaderLoads() throws Exception {
        Map<String, ObjectSpec> objects = objects();
        assertThat(objects).hasSizeGreaterThan(70);
        Map<String, String> sources = new LinkedHashMap<>();
        objects.forEach((packageName, spec) -> sources.put(
                packageName + "." + className(spec),
                BindingsGenerator.of(spec, className(spec))
                        .withPackage(packageName)
                        .source()));
        assertThat(GeneratedClasses.compile(sources, folder)).isEmpty();

        List<String> problems = new ArrayList<>();
        int loaded = 0;
        int returned = 0;
        try (URLClassLoader classes = GeneratedClasses.load(folder)) {
            for (Map.Entry<String, ObjectSpec> object : objects.entrySet()) {
                ObjectSpec spec = object.getValue();
                Class<?> type = classes.loadClass(object.getKey() + "." + className(spec));
                Object builder = type.getMethod("open", ObjectSpec.class).invoke(null, spec);
                Set<String> programs;
                try (BpfObject plain = BpfLoader.of(spec).load()) {
                    programs = plain.programs().stream()
                            .map(program -> plain(program.name()))
                            .collect(Collectors.toSet());
                    loaded++;
                } catch (BpfException e) {
                    continue; // this kernel does not take it in any case
                }
                try (AutoCloseable own =
                        (AutoCloseable) builder.getClass().getMethod("load").invoke(builder)) {
                    returned += callAll(own, programs, spec.source(), problems);
                } catch (InvocationTargetException e) {
                    problems.add(spec.source() + ": " + e.getCause());
                }
            }
        }
        assertThat(problems).isEmpty();
        assertThat(loaded).isGreaterThan(20);
        assertThat(returned).isGreaterThan(500);
    }

    /** So that the test above has them, and none is missing because another version stores them in another way. */
    @Test
    @Requires(Requirement.LIBBPF_TOOLS)
    void thePackageHasItsObjects() {
        assertThat(LibbpfTools.objects()).hasSizeGreaterThanOrEqualTo(52);
    }

    /** Whoever makes an object chooses its names; none of them may become code of the class. */
    @Test
    void namesOfTheObjectStayNames() {
        String bytes = new String(TestObjects.bytes("gc.bpf.o"), StandardCharsets.ISO_8859_1)
                .replace("duration_ns", "x*/\\u002a{\"") // as long as before
                .replace("gc_begin", "g*/\n;}\\u")
                .replace("pauses", "p\"\\+\"$");
        ObjectSpec hostile = ObjectSpec.parse("*/\n\\u000aclass.bpf.o", bytes.getBytes(StandardCharsets.ISO_8859_1));
        String source = BindingsGenerator.of(hostile, "Hostile").source();
        assertThat(GeneratedClasses.compile(Map.of("Hostile", source), folder)).isEmpty();
    }

    @Test
    void aClassMayBeNamedLikeOneThatItUses() {
        Map<String, String> sources = new LinkedHashMap<>();
        ObjectSpec spec = ObjectSpec.parse("bindings.bpf.o", TestObjects.bytes("bindings.bpf.o"));
        for (String name : List.of("Program", "String", "Codec", "Object", "Override", "List", "Kinds")) {
            String packageName = "named" + sources.size();
            sources.put(
                    packageName + "." + name,
                    BindingsGenerator.of(spec, name).withPackage(packageName).source());
        }
        assertThat(GeneratedClasses.compile(sources, folder)).isEmpty();
    }

    private static String className(ObjectSpec spec) {
        return BindingsGenerator.classNameOf(spec.source());
    }

    /**
     * Calls each method that returns something of the object, and attaches nothing.
     *
     * @param programs that are loaded
     */
    private static int callAll(Object own, Set<String> programs, String object, List<String> problems)
            throws IllegalAccessException {
        int returned = 0;
        for (Method method : own.getClass().getDeclaredMethods()) {
            boolean left = method.getParameterCount() > 0
                    || method.getReturnType() == void.class
                    || method.getReturnType() == Link.class
                    || (method.getReturnType() == Program.class && !programs.contains(plain(method.getName())))
                    || method.getName().equals("open");
            if (left) {
                continue;
            }
            try {
                assertThat(method.invoke(own)).isNotNull();
                returned++;
            } catch (InvocationTargetException e) {
                problems.add(object + ", " + method.getName() + "(): " + e.getCause());
            }
        }
        return returned;
    }

    /** A name of C or Java as both have it. */
    private static String plain(String name) {
        return name.replace("_", "").toLowerCase(Locale.ROOT);
    }
}
