package io.bpf4j.test.again;

import io.bpf4j.test.support.Java;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The test classes of a module.
 *
 * @param name of the module: {@code loader}, or {@code test} for the integration tests
 * @param folder of the module, in which its tests run
 * @param classPath of its tests, and of what runs them
 */
record Suite(String name, Path folder, String classPath, List<String> classes) {
    private static final List<String> MODULES = List.of(
            "elf",
            "btf",
            "bpf-objects",
            "sys",
            "loader",
            "process",
            "usdt",
            "trace",
            "metrics",
            "bindings",
            "maven-plugin",
            "cli",
            "test/objects");

    /** The selected classes of all modules; without modules in which none is selected. */
    static List<Suite> of(Path checkout, Again.Options options) throws IOException {
        List<String> modules = new ArrayList<>();
        if (options.units()) {
            modules.addAll(MODULES);
        }
        if (options.integration()) {
            modules.add("test");
        }
        List<Suite> suites = new ArrayList<>();
        for (String module : modules) {
            Path folder = checkout.resolve(module);
            List<String> classes = classes(folder.resolve("target/test-classes")).stream()
                    .filter(options::selects)
                    .toList();
            if (!classes.isEmpty()) {
                suites.add(new Suite(module.replace('/', '-'), folder, classPath(folder), classes));
            }
        }
        return suites;
    }

    /** As Maven runs them: classes whose names end so. */
    private static List<String> classes(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(folder)) {
            return files.map(file -> folder.relativize(file).toString())
                    .filter(file -> file.endsWith("Test.class") && !file.contains("$"))
                    .map(file ->
                            file.substring(0, file.length() - ".class".length()).replace('/', '.'))
                    .sorted()
                    .toList();
        }
    }

    /**
     * Maven writes it when it compiles the tests. The rest, at its end, is for {@link Round}. In a container the local
     * repository of Maven does not exist; the class path of this JVM has the libraries.
     */
    private static String classPath(Path folder) throws IOException {
        Path target = folder.resolve("target");
        List<String> entries = new ArrayList<>();
        entries.add(target.resolve("test-classes").toString());
        entries.add(target.resolve("classes").toString());
        entries.addAll(List.of(
                Files.readString(target.resolve("test.classpath")).strip().split(File.pathSeparator)));
        entries.addAll(List.of(System.getProperty("java.class.path").split(File.pathSeparator)));
        return entries.stream()
                .distinct()
                .filter(entry -> Files.exists(Path.of(entry)))
                .collect(Collectors.joining(File.pathSeparator));
    }

    /** The command that starts a JVM as Maven does. */
    List<String> java(long seed) {
        return List.of(
                Java.path(),
                "--enable-native-access=ALL-UNNAMED",
                "-Dbpf4j.test.seed=" + seed,
                // As in the module loader's pom.xml.
                "-Dio.bpf4j.leaks=" + name.equals("loader"),
                "-cp",
                classPath);
    }
}
