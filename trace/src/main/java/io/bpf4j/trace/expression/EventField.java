package io.bpf4j.trace.expression;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A number of {@code struct question_event} that has a name in every expression.
 *
 * <p>Tested by {@code GeneratedFunctionTest}, and by {@code ExpressionsOnKernelTest}.
 */
enum EventField {
    NSECS(96, Type.Int.U64, Field.NSECS),
    CGROUP(112, Type.Int.U64, Field.CGROUP),
    RETVAL(120, Type.Int.U64, null),
    PID(128, new Type.Int(4, false), null),
    TID(132, new Type.Int(4, false), null),
    UID(136, new Type.Int(4, false), Field.UID),
    CPU(140, new Type.Int(4, false), Field.CPU);

    /** Offsets of what has no name, or is no number. */
    static final int COOKIE = 104;

    static final int UNREADABLE = 148;
    static final int COMM = 152;
    static final int COMM_SIZE = 16;

    private final int offset;
    private final Type.Int type;
    private final Optional<Field> filled;

    EventField(int offset, Type.Int type, @Nullable Field filled) {
        this.offset = offset;
        this.type = type;
        this.filled = Optional.ofNullable(filled);
    }

    int offset() {
        return offset;
    }

    Type.Int type() {
        return type;
    }

    /** What the frame must be asked to fill. */
    Optional<Field> filled() {
        return filled;
    }
}
