package io.bpf4j.loader.map;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The name of the field in C, where that of the component is another: {@code @CName("tgid") int process}. It needn't be
 * said of names that differ in case and underscores alone: {@code durationNs} stands for {@code duration_ns}.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface CName {
    /** As in C. */
    String value();
}
