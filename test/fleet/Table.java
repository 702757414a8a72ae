import java.util.Locale;
import java.util.function.DoubleFunction;

/** Rows with what was measured, what is allowed, and whether it is. */
class Table {
    /** A number without unit; without digits after the dot if it has none. */
    static final DoubleFunction<String> NUMBER = value ->
            value == Math.rint(value) ? Long.toString((long) value) : String.format(Locale.ROOT, "%.2f", value);

    static final DoubleFunction<String> MIB = bytes -> String.format(Locale.ROOT, "%.2f MiB", bytes / (1 << 20));
    static final DoubleFunction<String> SECONDS = seconds -> String.format(Locale.ROOT, "%.2f s", seconds);
    static final DoubleFunction<String> PERCENT = share -> String.format(Locale.ROOT, "%.2f %%", share * 100);

    /** Microseconds below a millisecond, else milliseconds. */
    static final DoubleFunction<String> TIME = seconds -> seconds < 1e-3
            ? String.format(Locale.ROOT, "%.0f us", seconds * 1e6)
            : String.format(Locale.ROOT, "%.2f ms", seconds * 1e3);

    private final StringBuilder text = new StringBuilder();
    private boolean failed;

    Table(String title) {
        text.append(title).append('\n');
        row("", "measured", "allowed", "");
    }

    private void row(String what, String measured, String allowed, String verdict) {
        text.append(String.format(Locale.ROOT, "  %-66s %-36s %-24s %s", what, measured, allowed, verdict)
                        .stripTrailing())
                .append('\n');
    }

    void heading(String heading) {
        text.append('\n').append(heading).append('\n');
    }

    void row(String what, String measured, String allowed, boolean pass) {
        row(what, measured, allowed, pass ? "pass" : "FAIL");
        failed |= !pass;
    }

    /** A figure that is not judged. */
    void remark(String what, String measured) {
        row(what, measured, "", "");
    }

    void equal(String what, double measured, double allowed) {
        row(what, NUMBER.apply(measured), NUMBER.apply(allowed), measured == allowed);
    }

    void atMost(String what, double measured, double allowed, DoubleFunction<String> unit) {
        row(what, unit.apply(measured), "<= " + unit.apply(allowed), measured <= allowed);
    }

    void within(String what, double measured, double least, double most) {
        row(
                what,
                NUMBER.apply(measured),
                NUMBER.apply(least) + " to " + NUMBER.apply(most),
                measured >= least && measured <= most);
    }

    /** Before and after; what comes after is judged. */
    void change(String what, double before, double after, double allowed, DoubleFunction<String> unit) {
        row(what, unit.apply(before) + " -> " + unit.apply(after), "<= " + unit.apply(allowed), after <= allowed);
    }

    boolean passes() {
        return !failed;
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
