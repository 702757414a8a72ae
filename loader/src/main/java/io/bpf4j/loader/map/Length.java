package io.bpf4j.loader.map;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** How many elements the C array has that a component of a record stands for: {@code @Length(16) String comm}. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Length {
    /** Elements of the array; bytes for a {@code String}, its NUL included. */
    int value();
}
