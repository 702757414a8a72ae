package io.bpf4j.loader.map;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The name of the C field, if it differs from the component's name: {@code @CName("tgid") int process}. Not needed if
 * only case and underscores differ: {@code durationNs} matches {@code duration_ns}.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface CName {
    /** The name in C. */
    String value();
}
