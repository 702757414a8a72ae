package io.bpf4j.loader.map;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The number of elements of the C array that a record component stands for: {@code @Length(16) String comm}. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Length {
    /** Elements of the array; bytes for a {@code String}, its NUL included. */
    int value();
}
