package io.bpf4j.test.project;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.binding.StructView;
import io.bpf4j.sys.Host;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Each public method has a caller outside of its own file: in another module, in a test, or in a document. One that has
 * none is not needed, or nobody knows whether it works.
 */
class PublicMethodsTest {
    private static final Path CHECKOUT =
            TargetProgram.testModule().resolve("..").normalize();

    /** A call as a class file has it. */
    private record Call(String name, String descriptor) {}

    @Test
    void eachHasACaller() throws Exception {
        Map<Call, Set<String>> calls = calls();
        assertThat(calls).hasSizeGreaterThan(5_000);
        String documents = documents();
        List<String> unused = new ArrayList<>();
        for (PublicApiTest.Listed module : PublicApiTest.modules().toList()) {
            for (String name : PublicApiTest.publicTypes(module.member())) {
                Class<?> type = Class.forName(name, false, PublicMethodsTest.class.getClassLoader());
                for (Method method : type.getDeclaredMethods()) {
                    if (isListed(type, method)
                            && !isCalled(type, method, calls)
                            && !documents.contains(type.getSimpleName() + "." + method.getName())) {
                        unused.add(name.substring(name.lastIndexOf('.') + 1) + "." + method.getName()
                                + method.toString().replaceFirst("^[^(]*", ""));
                    }
                }
            }
        }
        assertThat(unused).isEmpty();
    }

    /**
     * Not what each record and each enum has, and not the components of records, which are information; not what
     * callers implement, what generated classes call, and what another library's type declares; and not the form with a
     * machine of a method that has one without.
     */
    private static boolean isListed(Class<?> type, Method method) {
        return Modifier.isPublic(method.getModifiers())
                && !method.isSynthetic()
                && !(type.isInterface() && !type.isSealed())
                && !type.getPackageName().equals(StructView.class.getPackageName())
                && !isOfAnotherLibrary(type, method)
                && !hasFormWithoutHost(type, method)
                && !Set.of("equals", "hashCode", "toString", "valueOf", "values")
                        .contains(method.getName())
                && !(type.isRecord()
                        && Stream.of(type.getRecordComponents())
                                .anyMatch(component -> component.getAccessor().equals(method)));
    }

    private static boolean isOfAnotherLibrary(Class<?> type, Method method) {
        return Stream.concat(Stream.of(type.getInterfaces()), Stream.ofNullable(type.getSuperclass()))
                .filter(above -> !above.getName().startsWith("io.bpf4j."))
                .flatMap(above -> Stream.of(above.getMethods()))
                .anyMatch(inherited -> inherited.getName().equals(method.getName())
                        && Arrays.equals(inherited.getParameterTypes(), method.getParameterTypes()));
    }

    private static boolean hasFormWithoutHost(Class<?> type, Method method) {
        Class<?>[] parameters = method.getParameterTypes();
        if (parameters.length == 0 || parameters[0] != Host.class) {
            return false;
        }
        Class<?>[] others = Arrays.copyOfRange(parameters, 1, parameters.length);
        return Stream.of(type.getDeclaredMethods())
                .anyMatch(other ->
                        other.getName().equals(method.getName()) && Arrays.equals(other.getParameterTypes(), others));
    }

    private static boolean isCalled(Class<?> type, Method method, Map<Call, Set<String>> calls) {
        Call call = new Call(method.getName(), descriptor(method));
        return calls.getOrDefault(call, Set.of()).stream().anyMatch(owner -> {
            try {
                Class<?> called = Class.forName(owner, false, PublicMethodsTest.class.getClassLoader());
                return called.isAssignableFrom(type) || type.isAssignableFrom(called);
            } catch (ClassNotFoundException | LinkageError e) {
                return false;
            }
        });
    }

    private static String descriptor(Method method) {
        return MethodType.methodType(method.getReturnType(), method.getParameterTypes())
                .descriptorString();
    }

    /** The classes whose method is called, by name and descriptor; without calls within one file. */
    private static Map<Call, Set<String>> calls() throws IOException {
        Map<Call, Set<String>> calls = new HashMap<>();
        List<Path> folders = new ArrayList<>();
        try (Stream<Path> modules = Files.list(CHECKOUT)) {
            for (Path module : modules.toList()) {
                for (String kind : List.of("target/classes", "target/test-classes")) {
                    if (Files.isDirectory(module.resolve(kind))) {
                        folders.add(module.resolve(kind));
                    }
                }
            }
        }
        for (Path folder : folders) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file :
                        files.filter(path -> path.toString().endsWith(".class")).toList()) {
                    if (file.endsWith("module-info.class")) {
                        continue;
                    }
                    var parsed = ClassFile.of().parse(file);
                    String from = topLevel(parsed.thisClass().asInternalName());
                    parsed.constantPool().forEach(entry -> {
                        if (entry instanceof MemberRefEntry member
                                && !topLevel(member.owner().asInternalName()).equals(from)) {
                            calls.computeIfAbsent(
                                            new Call(
                                                    member.name().stringValue(),
                                                    member.type().stringValue()),
                                            _ -> new HashSet<>())
                                    .add(member.owner().asInternalName().replace('/', '.'));
                        }
                    });
                }
            }
        }
        return calls;
    }

    private static String topLevel(String internalName) {
        int nested = internalName.indexOf('$');
        return nested < 0 ? internalName : internalName.substring(0, nested);
    }

    /** The pages for users, and examples, which are built elsewhere. */
    private static String documents() throws IOException {
        StringBuilder all = new StringBuilder(Files.readString(CHECKOUT.resolve("README.md")));
        for (String folder : List.of("docs", "examples")) {
            try (Stream<Path> files = Files.walk(CHECKOUT.resolve(folder))) {
                for (Path file :
                        files.filter(path -> path.toString().endsWith(".md")).toList()) {
                    all.append(Files.readString(file));
                }
            }
        }
        return all.toString();
    }
}
