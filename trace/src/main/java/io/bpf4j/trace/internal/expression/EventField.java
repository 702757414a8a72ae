package io.bpf4j.trace.internal.expression;

import io.bpf4j.trace.expression.ValueType;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A number of {@code struct question_event} that has a name in every expression.
 *
 * <p>Tested by {@code EventFieldTest} and {@code GeneratedFunctionTest}, and by {@code ExpressionsOnKernelTest}.
 */
enum EventField {
    NSECS(96, 8, Field.NSECS),
    CGROUP(112, 8, Field.CGROUP),
    RETVAL(120, 8, null),
    PID(128, 4, Field.THREAD),
    TID(132, 4, Field.THREAD),
    UID(136, 4, Field.UID),
    CPU(140, 4, Field.CPU);

    /** Offsets in bytes of fields that have no name, or are not numbers. */
    static final int COOKIE = 104;

    static final int UNREADABLE = 148;
    static final int COMM = 152;
    static final int COMM_SIZE = 16;

    /** The address of the values of the pair's begin. */
    static final int BEGIN = 168;

    private final int offset;
    private final int size;
    private final Optional<Field> filled;

    EventField(int offset, int size, @Nullable Field filled) {
        this.offset = offset;
        this.size = size;
        this.filled = Optional.ofNullable(filled);
    }

    int offset() {
        return offset;
    }

    /** The type of the field; all fields are unsigned. */
    ValueType.Int type() {
        return this == RETVAL ? ValueType.Int.REGISTER : new ValueType.Int(size, false);
    }

    /** This field as one that the BPF program fills only on demand; empty if it always fills the field. */
    Optional<Field> filled() {
        return filled;
    }
}
