package io.bpf4j.trace.stack;

/**
 * The symbols that may be read for one answer, of all files together: their number is what naming takes time for. A
 * file may have four million, which take a tenth of a second, and a process may have mapped thousands of such files.
 * What is read before, as processes appear, is taken from what the answer before has left. <i>Confined.</i>
 */
final class SymbolBudget {
    /** The largest browsers have three million symbols, and three hundred libraries with ten thousand each. */
    static final long MOST_SYMBOLS = 1L << 25;

    private final long most;
    private long left;
    private int answer;

    SymbolBudget() {
        this(MOST_SYMBOLS);
    }

    SymbolBudget(long most) {
        this.most = most;
        this.left = most;
    }

    /** Begins another answer. */
    void renew() {
        answer++;
        left = most;
    }

    /** The number of the answer. What had no room in it may have room in the next one. */
    int answer() {
        return answer;
    }

    /** Whether that many symbols may still be read; if so, they count. */
    boolean take(long symbols) {
        if (symbols > left) {
            return false;
        }
        left -= symbols;
        return true;
    }
}
