package io.bpf4j.test.support;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What a test needs of the machine. Where something is missing the test is skipped with a message that names it; with
 * {@code CI=true} in the environment it fails instead, unless {@code test/machines.txt} lists the requirement for the
 * machine, whose name is in {@code BPF4J_MACHINE}. It fails, too, where the list is wrong and nothing is missing.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RequirementsExtension.class)
public @interface Requires {
    Requirement[] value();
}
