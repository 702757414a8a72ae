package io.bpf4j.test.support;

import io.bpf4j.bindings.BindingsGenerator;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** Compiles the Java that documents show, with warnings as errors. */
public final class Snippets {
    private Snippets() {}

    /**
     * A class with the method {@code run}, which has the statements.
     *
     * @param parameters what the statements take for granted besides the imports, as in a declaration
     */
    public static String framed(String className, Collection<String> imports, String parameters, String statements) {
        String imported = imports.stream().map(name -> "import " + name + ";\n").collect(Collectors.joining());
        return imported + """

                public final class %s {
                    private %1$s() {}

                    public static void run(%s) throws Exception {
                %s
                    }
                }
                """.formatted(className, parameters, statements);
    }

    /**
     * Compiles classes into a folder, beside the class {@code Gc} that {@code bpf4j generate gc.bpf.o} writes.
     *
     * @param sources by the names of the classes
     * @return what javac says; empty if it compiles them
     */
    public static String compile(Map<String, String> sources, Path output) {
        Map<String, String> all = new HashMap<>(sources);
        all.put("Gc", BindingsGenerator.of(Bpf.spec("gc.bpf.o"), "Gc").source());
        return GeneratedClasses.compile(all, output);
    }
}
