package io.bpf4j.trace;

import io.bpf4j.sys.Diagnostic;
import java.util.Map;
import java.util.Optional;

/**
 * Finds results of functions that are negative numbers of 32 bits. {@code retval} is the whole register, unsigned, because
 * nothing tells the type of a function's result; -1 is 18446744073709551615 or 4294967295 then. <i>Thread-safe.</i>
 */
final class SignedResults {
    private static final String RESULT = "retval";

    /** Negative numbers that functions return for errors: those of the kernel's {@code MAX_ERRNO}. */
    private static final int LARGEST_ERROR = 4095;

    /** A result that was found; 0 if none was. */
    private volatile long found;

    /** Whether an expression is the result of a function, without a conversion. */
    static boolean isResult(String expression) {
        return expression.strip().equals(RESULT);
    }

    /** Checks the values of expressions. */
    void look(Map<String, Object> values) {
        values.forEach((expression, value) -> {
            if (isResult(expression) && value instanceof Number number) {
                look(number.longValue());
            }
        });
    }

    void look(long result) {
        // The machine sets the upper half of the register, or clears it. If it is clear, the number may be unsigned.
        boolean extended = result < 0 && result == (int) result;
        if (extended || (result >>> Integer.SIZE == 0 && (int) result < 0 && (int) result >= -LARGEST_ERROR)) {
            found = result;
        }
    }

    /** A hint about the results, if one was negative. */
    Optional<Diagnostic> hint() {
        long result = found;
        return result == 0
                ? Optional.empty()
                : Optional.of(new Diagnostic(
                        Diagnostic.Kind.HINT,
                        "retval",
                        "retval has values such as " + Long.toUnsignedString(result) + ", because it is read as an"
                                + " unsigned number of 64 bits; if the function returns an int, (int)retval reads it as a signed"
                                + " 32-bit number, here " + (int) result));
    }
}
