package io.bpf4j.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/** What the README shows compiles. */
class ReadmeTest {
    @Test
    void theQuickStartCompiles() throws IOException {
        String readme = Files.readString(TargetProgram.testModule().resolveSibling("README.md"));
        int start = readme.indexOf("```java\n") + "```java\n".length();
        String code = readme.substring(start, readme.indexOf("```", start));
        Path folder = TargetProgram.temporaryFolder();
        Path source = Files.writeString(folder.resolve("TraceGc.java"), code);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter problems = new StringWriter();
        boolean compiled = compiler.getTask(
                        problems,
                        null,
                        null,
                        List.of("-Xlint:all", "-d", folder.toString(), "-cp", System.getProperty("java.class.path")),
                        null,
                        compiler.getStandardFileManager(null, null, null).getJavaFileObjects(source))
                .call();
        assertThat(compiled).as(problems.toString()).isTrue();
    }
}
