package io.bpf4j.test.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.bindings.BindingsGenerator;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.loader.CongestionControl;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.GeneratedClasses;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** From an object to its generated class, to a program that uses the class, to what the kernel makes of it. */
@Requires(Requirement.BPF)
@ExtendWith(LeakCheck.class)
@Timeout(1800) // for what hangs; the compiler of a cold JVM takes long on a busy machine
class BindingsOnKernelTest {
    /** The kernel has one list of congestion controls. */
    private static final String CONTROL = CongestionControl.newName();

    @TempDir
    Path folder;

    /**
     * Generates the class of an object, compiles it with a class that uses it, and calls that.
     *
     * @param userName simple name of a {@code Callable} in the package {@code org.example}
     */
    private Object run(BindingsGenerator generator, String object, String className, String userName, String user)
            throws Exception {
        Map<String, String> sources =
                Map.of("org.example." + className, generator.source(), "org.example." + userName, user);
        assertThat(GeneratedClasses.compile(sources, folder)).isEmpty();
        Files.write(folder.resolve("org/example").resolve(object), TestObjects.bytes(object));
        try (URLClassLoader classes = GeneratedClasses.load(folder)) {
            return ((Callable<?>) classes.loadClass("org.example." + userName)
                            .getConstructor()
                            .newInstance())
                    .call();
        }
    }

    private static BindingsGenerator generator(String object, String className) throws IOException {
        return BindingsGenerator.of(Bpf.spec(object), className).withPackage("org.example");
    }

    /** Kinds.java, beside this test in the resources, sets, reads and compares every member. */
    @Test
    void everyKindOfMemberAndOfMapIsWhatTheProgramSees() throws Exception {
        String user;
        try (InputStream in = Objects.requireNonNull(getClass().getResourceAsStream("Kinds.java"))) {
            user = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        Object problems = run(
                generator("bindings.bpf.o", "Bindings").withEvent("samples", "event"),
                "bindings.bpf.o",
                "Bindings",
                "Kinds",
                user);
        assertThat((List<?>) problems).isEmpty();
    }

    @Test
    @Requires(Requirement.STRUCT_OPS_LINK)
    void aStructOpsVariableIsSetBeforeTheLoad() throws Exception {
        Object registered =
                run(generator("struct_ops.bpf.o", "Controls"), "struct_ops.bpf.o", "Controls", "Registers", """
                package org.example;

                import io.bpf4j.loader.link.Link;
                import java.nio.file.Files;
                import java.nio.file.Path;
                import java.util.concurrent.Callable;

                /** Registers a congestion control, and returns the names of all. */
                public final class Registers implements Callable<Object> {
                    /** Made by the test. */
                    public Registers() {}

                    @Override
                    public Object call() throws Exception {
                        try (Controls controls = Controls.open()
                                        .first(ops -> ops.withText("name", "NAME").withAutocreate(true))
                                        .load();
                                Link _ = controls.attachFirst()) {
                            return Files.readString(
                                    Path.of("/proc/sys/net/ipv4/tcp_available_congestion_control"));
                        }
                    }
                }
                """.replace(
                                "NAME", CONTROL));
        assertThat((String) registered).contains(CONTROL);
    }

    @Test
    void anObjectOfAnotherClassIsRefusedBeforeAnythingIsLoaded() throws Exception {
        Map<String, String> sources =
                Map.of("org.example.Gc", generator("gc.bpf.o", "Gc").source());
        assertThat(GeneratedClasses.compile(sources, folder)).isEmpty();
        try (URLClassLoader classes = GeneratedClasses.load(folder)) {
            Class<?> gc = classes.loadClass("org.example.Gc");
            assertThatThrownBy(() -> gc.getMethod("open", ObjectSpec.class).invoke(null, Bpf.spec("records.bpf.o")))
                    .cause()
                    .isInstanceOf(InvalidObjectException.class)
                    .hasMessage("records.bpf.o is not the object that org.example.Gc was generated from: it has no map"
                            + " pauses; it has no type pause; it has no program gc_begin; it has no program gc_end; it"
                            + " has no global running. Generate the class from this object, or load the object of the"
                            + " class");
            assertThatThrownBy(() -> gc.getMethod("open").invoke(null))
                    .cause()
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("there is no resource gc.bpf.o beside org.example.Gc: put the object there, or call"
                            + " open with its path");
        }
    }
}
