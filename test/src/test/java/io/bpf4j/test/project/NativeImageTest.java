package io.bpf4j.test.project;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.map.Codec;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the jars tell GraalVM's native-image that it can't see in the code: resources, and records that are read by
 * reflection. The compiler itself is not run here. Native calls are checked beside their code, in the module sys.
 */
class NativeImageTest {
    private static final Path CHECKOUT =
            TargetProgram.testModule().resolve("..").normalize();

    /** The only classes that use reflection: on these records of bpf4j, and on records of users. */
    private static final List<String> REFLECTING = List.of("RecordCopy.java", "RecordCodec.java", "RecordValues.java");

    @ParameterizedTest
    @ValueSource(strings = {"elf", "btf", "sys", "loader", "process", "usdt", "bpf-objects", "trace"})
    void eachResourceIsNamed(String module) throws IOException {
        List<String> left = new ArrayList<>();
        Path resources = CHECKOUT.resolve(module).resolve("src/main/resources");
        List<PathMatcher> globs = metadata(module, "resources").stream()
                .map(resource -> FileSystems.getDefault().getPathMatcher("glob:" + resource.get("glob")))
                .toList();
        if (Files.isDirectory(resources)) {
            try (Stream<Path> files = Files.walk(resources)) {
                files.filter(Files::isRegularFile)
                        .map(resources::relativize)
                        .filter(file -> !file.startsWith("META-INF"))
                        .filter(file -> globs.stream().noneMatch(glob -> glob.matches(file)))
                        .forEach(file -> left.add(file.toString()));
            }
        }
        assertThat(left).isEmpty();
    }

    @Test
    void eachRecordThatIsCopiedIsNamed() throws IOException {
        TreeSet<String> copied = new TreeSet<>();
        Pattern call = Pattern.compile("RecordCopy\\.with\\(\\s*\\w+,\\s*(\\w+)\\.class");
        for (Path source : sources("loader")) {
            Matcher calls = call.matcher(Files.readString(source));
            while (calls.find()) {
                copied.add("io.bpf4j.loader.spec." + calls.group(1));
            }
        }
        assertThat(copied).isNotEmpty();
        assertThat(metadata("loader", "reflection"))
                .allSatisfy(type -> assertThat(type)
                        .containsEntry("allDeclaredConstructors", true)
                        .containsEntry("allDeclaredMethods", true))
                .extracting(type -> type.get("type"))
                .containsExactlyElementsOf(copied);
    }

    @ParameterizedTest
    @ValueSource(strings = {"elf", "btf", "sys", "loader", "process", "usdt", "bpf-objects", "trace"})
    void nothingElseUsesReflection(String module) throws IOException {
        for (Path source : sources(module)) {
            if (!REFLECTING.contains(source.getFileName().toString())) {
                assertThat(Files.readString(source))
                        .as("%s", source)
                        .doesNotContain("java.lang.reflect", "Class.forName", "getDeclaredMethod", "getDeclaredField");
            }
        }
    }

    @Test
    void aRecordCodecIsRefusedInANativeImage() {
        String property = "org.graalvm.nativeimage.imagecode";
        System.setProperty(property, "runtime");
        try {
            assertThatThrownBy(() -> Codec.ofRecord(Pair.class))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("native image")
                    .hasMessageContaining("bpf4j generate");
        } finally {
            System.clearProperty(property);
        }
    }

    private record Pair(int first, int second) {}

    private static List<Path> sources(String module) throws IOException {
        try (Stream<Path> files = Files.walk(CHECKOUT.resolve(module).resolve("src/main/java"))) {
            return files.filter(file -> file.toString().endsWith(".java")).toList();
        }
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> metadata(String module, String section) throws IOException {
        Path folder = CHECKOUT.resolve(module).resolve("src/main/resources/META-INF/native-image/io.bpf4j");
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        String artifact = "bpf4j-" + module.replace("bpf-", "");
        Map<String, ?> all =
                Json.object(Files.readString(folder.resolve(artifact).resolve("reachability-metadata.json")));
        Object entries = all.get(section);
        return entries == null ? List.of() : (List<Map<String, Object>>) entries;
    }
}
