package io.bpf4j.maven;

import io.bpf4j.bindings.BindingsGenerator;
import io.bpf4j.elf.Bpf4jException;
import io.bpf4j.loader.spec.ObjectSpec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Generates a Java class for each object that the goal compile has made, and for each other one in {@code <objects>}:
 * its maps, programs, variables and types by name. The classes are sources of the project.
 */
@Mojo(name = "generate", defaultPhase = LifecyclePhase.GENERATE_SOURCES, threadSafe = true)
public final class GenerateMojo extends BpfMojo {
    /** Options of single objects, and objects that the goal compile has not made. */
    @Parameter
    private List<ObjectOptions> objects = new ArrayList<>();

    @Override
    void run() throws MojoFailureException, IOException {
        Path root = buildDirectory().resolve("generated-sources/bpf4j");
        Path folder = inPackage(root);
        Map<Path, Path> objectOf = new HashMap<>();
        for (Map.Entry<Path, ObjectOptions> object : objects().entrySet()) {
            Path file = object.getKey();
            Path source = folder.resolve(className(file, object.getValue()) + ".java");
            Path other = objectOf.putIfAbsent(source, file);
            if (other != null) {
                throw new MojoFailureException(shown(other) + " and " + shown(file) + " have a class of the same name, "
                        + source.getFileName() + ": set the <className> of one of them in <objects>");
            }
            String text = text(file, object.getValue());
            if (Changed.write(source, text.getBytes(StandardCharsets.UTF_8))) {
                getLog().info("wrote " + shown(source));
            }
        }
        keepOnly(folder, ".java", objectOf.keySet());
        project.addCompileSourceRoot(root.toString());
    }

    /** The objects with their options, in the order of their names. */
    private Map<Path, ObjectOptions> objects() throws MojoFailureException, IOException {
        Path compiled = inPackage(resources());
        Map<Path, ObjectOptions> all = new LinkedHashMap<>();
        for (Path object : files(compiled, OBJECT_SUFFIX)) {
            all.put(object, new ObjectOptions());
        }
        for (ObjectOptions options : objects) {
            if (options.file == null) {
                throw new MojoFailureException("an element of <objects> has no <file>");
            }
            Path own = compiled.resolve(options.file);
            Path other = baseDirectory().resolve(options.file).normalize();
            if (!all.containsKey(own) && !Files.isRegularFile(other)) {
                throw new MojoFailureException(
                        "there is no object " + options.file + ", which <objects> names: neither " + shown(own)
                                + ", made of a source, nor the file " + other);
            }
            all.put(all.containsKey(own) ? own : other, options);
        }
        return all;
    }

    private static String className(Path object, ObjectOptions options) {
        return options.className == null ? BindingsGenerator.classNameOf(object.toString()) : options.className;
    }

    private String text(Path object, ObjectOptions options) throws MojoFailureException, IOException {
        try {
            ObjectSpec spec = ObjectSpec.parse(object.getFileName().toString(), Files.readAllBytes(object));
            BindingsGenerator generator =
                    BindingsGenerator.of(spec, className(object, options)).withPackage(packageName());
            if (Files.exists(object.resolveSibling(BIG).resolve(object.getFileName()))) {
                generator = generator.withBothByteOrders();
            }
            for (Map.Entry<String, String> event : options.events.entrySet()) {
                generator = generator.withEvent(event.getKey(), event.getValue());
            }
            for (String struct : options.structs) {
                generator = generator.withStruct(struct);
            }
            for (String map : generator.unknownEvents()) {
                getLog().info("map " + map + " of " + shown(object)
                        + " has records of unknown type, which <events> in <objects> can set");
            }
            return generator.source();
        } catch (Bpf4jException | IllegalArgumentException e) {
            throw new MojoFailureException("no class can be generated for " + shown(object) + ": " + e.getMessage(), e);
        }
    }
}
