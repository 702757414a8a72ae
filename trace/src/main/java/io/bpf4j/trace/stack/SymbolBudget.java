package io.bpf4j.trace.stack;

/**
 * The number of symbols that may be read for one answer, from all files together, because the time for naming depends
 * on it. A file may have four million symbols, which take a tenth of a second, and a process may have mapped thousands
 * of such files. Symbols that are read before an answer, when processes appear, count against the rest of the previous
 * answer's budget. <i>Confined.</i>
 */
final class SymbolBudget {
    /** The largest browsers have three million symbols, and three hundred libraries with ten thousand each. */
    static final long MAX_SYMBOLS = 1L << 25;

    private final long limit;
    private long left;
    private int answer;

    SymbolBudget() {
        this(MAX_SYMBOLS);
    }

    SymbolBudget(long limit) {
        this.limit = limit;
        this.left = limit;
    }

    /** Begins another answer. */
    void renew() {
        answer++;
        left = limit;
    }

    /** The number of the answer. A file whose symbols exceed the budget of one answer may fit that of the next one. */
    int answer() {
        return answer;
    }

    /** Takes so many symbols from the budget; returns false, and takes none, if it is too small. */
    boolean take(long symbols) {
        if (symbols > left) {
            return false;
        }
        left -= symbols;
        return true;
    }
}
