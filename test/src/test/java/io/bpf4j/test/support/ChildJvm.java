package io.bpf4j.test.support;

import java.io.IOException;
import java.nio.file.Path;

/** A JVM of the same JDK as the tests', running {@link ChildJvmMain}. */
public final class ChildJvm extends LineProcess {

    private ChildJvm(ProcessBuilder builder) throws IOException {
        super(builder);
    }

    public static ChildJvm start() throws IOException {
        return new ChildJvm(new ProcessBuilder(
                Java.command("-Xmx64m", "-cp", System.getProperty("java.class.path"), ChildJvmMain.class.getName())));
    }

    /** The library of the JDK under test that has HotSpot's probes. */
    public static Path libjvm() {
        return Path.of(System.getProperty("java.home"), "lib", "server", "libjvm.so");
    }
}
