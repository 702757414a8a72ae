package io.bpf4j.test.support;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Compiles sources that a test has generated, as strictly as javac can, and loads the classes. */
public final class GeneratedClasses {
    private GeneratedClasses() {}

    /**
     * Compiles sources against the class path of the tests; every warning is an error.
     *
     * @param sources by the names of their classes
     * @return what javac says; empty if it compiles them
     */
    public static String compile(Map<String, String> sources, Path output) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<Source> files = sources.entrySet().stream()
                .map(source -> new Source(source.getKey(), source.getValue()))
                .toList();
        StringWriter messages = new StringWriter();
        boolean compiled = compiler.getTask(
                        messages,
                        null,
                        null,
                        List.of(
                                "-Xlint:all",
                                "-Xdoclint:all/protected",
                                "-Xdoclint:-missing",
                                "-Werror",
                                "-proc:none",
                                "-d",
                                output.toString(),
                                "-cp",
                                System.getProperty("java.class.path")),
                        null,
                        files)
                .call();
        return compiled ? messages.toString() : messages + "javac refuses the sources";
    }

    /** Loads the classes of a folder, beside those of the tests; the caller closes the loader. */
    public static URLClassLoader load(Path output) throws IOException {
        return new URLClassLoader(new URL[] {output.toUri().toURL()}, GeneratedClasses.class.getClassLoader());
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String className, String text) {
            super(
                    URI.create("string:///" + className.replace('.', '/') + JavaFileObject.Kind.SOURCE.extension),
                    JavaFileObject.Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }
}
