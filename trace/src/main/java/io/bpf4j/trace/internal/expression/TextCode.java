package io.bpf4j.trace.internal.expression;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R1;
import static io.bpf4j.insn.Assembler.R10;
import static io.bpf4j.insn.Assembler.R2;
import static io.bpf4j.insn.Assembler.R3;
import static io.bpf4j.insn.Assembler.R4;
import static io.bpf4j.insn.Assembler.R5;
import static io.bpf4j.insn.Assembler.R9;

import io.bpf4j.insn.Opcodes;
import io.bpf4j.trace.internal.expression.Term.Numeric;
import io.bpf4j.trace.internal.expression.Term.Textual;
import java.util.Optional;

/**
 * Generates the code of text: reads it into a {@link Window}, compares it, and matches patterns. <i>Confined.</i>
 *
 * <p>The bytes after the text in its window are zero, so words of 8 bytes can be compared, and an output can be a key.
 * Lengths are compared, too, because a text with a length may contain NUL.
 *
 * <p>Tested by {@code GeneratedFunctionTest}, and by {@code ExpressionsOnKernelTest}.
 */
final class TextCode {
    private static final int WORD = Long.BYTES;

    private final Code code;
    private final NumberCode numbers;
    private final Tables tables;

    TextCode(Code code, NumberCode numbers, Tables tables) {
        this.code = code;
        this.numbers = numbers;
        this.tables = tables;
    }

    /** Reads text into a window that is large enough. R0 = its length in bytes. Changes all registers but R6 to R8. */
    void read(Textual text, Window window) {
        switch (text) {
            case Term.Literal(Bytes bytes) -> {
                int words = words(bytes.length()) * WORD;
                copy(window, Code.TABLES, literal(bytes), words);
                code.clear(window.base(), window.offset() + words, window.size() - words);
                code.constant(R0, bytes.length());
            }
            case Term.Comm _ -> {
                code.need(Field.COMM);
                copy(window, Code.EVENT, EventField.COMM, EventField.COMM_SIZE);
                code.clear(window.base(), window.offset() + EventField.COMM_SIZE, window.size() - EventField.COMM_SIZE);
                lengthOfComm(window);
            }
            case Term.BeginText(Term.Slot slot, int bound, boolean _) -> {
                code.failIfUnreadable(slot, R1);
                code.load(WORD, R2, Code.EVENT, EventField.BEGIN);
                copy(window, R2, slot.offset(), bound);
                code.clear(window.base(), window.offset() + bound, window.size() - bound);
                // It is only written, not compared, so its length does not matter.
                code.constant(R0, bound);
            }
            case Term.TextChoice(Numeric condition, Textual then, Textual otherwise) -> {
                String other = code.label();
                String end = code.label();
                numbers.jumpIf(condition, false, other);
                read(then, window);
                code.jump(end);
                code.place(other);
                read(otherwise, window);
                code.place(end);
            }
            case Term.UserText(Numeric address, Optional<Numeric> length, int bound, Term.BoundOrigin _) -> {
                if (length.isEmpty()) {
                    numbers.evaluate(address);
                    code.move(R9, R0);
                    code.clear(window.base(), window.offset(), window.size());
                    readToNul(window, bound);
                } else {
                    numbers.operands(address, length.get());
                    code.move(R3, R0);
                    code.clear(window.base(), window.offset(), window.size());
                    readLength(window, bound, !length.get().type().isU64());
                }
            }
        }
    }

    /** R0 = 1 if the text matches the pattern, else 0; see {@link PatternMachine}. */
    void match(Term.Matches matches, Window window) {
        PatternMachine machine = matches.pattern();
        read(matches.text(), window);
        int masks = table(machine);
        String loop = code.label();
        String end = code.label();
        address(R3, window, 0);
        code.constant(R1, machine.first()); // states
        code.constant(R2, 0); // bytes that were matched
        code.constant(R5, machine.stars());
        code.place(loop);
        code.jumpIfWith(Opcodes.JGE, R2, R0, end);
        code.load(1, R4, R3, 0);
        code.compute(Opcodes.LSH, R4, 3);
        code.computeWith(Opcodes.ADD, R4, Code.TABLES);
        code.load(WORD, R4, R4, masks);
        code.move(R9, R1);
        code.compute(Opcodes.LSH, R9, 1);
        code.computeWith(Opcodes.AND, R9, R4);
        code.computeWith(Opcodes.AND, R1, R5);
        code.computeWith(Opcodes.OR, R1, R9);
        code.compute(Opcodes.ADD, R3, 1);
        code.compute(Opcodes.ADD, R2, 1);
        // The verifier follows each iteration. It does not know the length, so this constant bound ends the loop for
        // it.
        code.jumpIf(Opcodes.JLT, R2, Math.max(1, matches.text().bound()), loop);
        code.place(end);
        code.constant(R0, machine.last());
        code.computeWith(Opcodes.AND, R0, R1);
        // 1 if it is not zero, without a jump: it or its negation has the highest bit set.
        code.move(R1, R0);
        code.compute(Opcodes.NEG, R1, 0);
        code.computeWith(Opcodes.OR, R0, R1);
        code.compute(Opcodes.RSH, R0, 63);
    }

    void jumpIfUnequal(Term.SameText same, Window buffer, String label) {
        if (same.right() instanceof Term.Literal(Bytes bytes)) {
            read(same.left(), buffer);
            code.jumpIf(Opcodes.JNE, R0, bytes.length(), label);
            compare(buffer, Code.TABLES, literal(bytes), words(bytes.length()), label);
            return;
        }
        Window left = buffer.firstHalf();
        Window right = buffer.secondHalf();
        read(same.left(), left);
        int slot = code.push();
        code.store(R10, slot, R0);
        read(same.right(), right);
        code.load(WORD, R1, R10, slot);
        code.pop();
        code.jumpIfWith(Opcodes.JNE, R0, R1, label);
        int bound = Math.min(same.left().bound(), same.right().bound());
        compare(left, right.base(), right.offset(), words(bound), label);
    }

    private int literal(Bytes bytes) {
        byte[] padded = bytes.padded(words(bytes.length()) * WORD);
        requireTables(padded.length);
        return tables.add(padded);
    }

    private int table(PatternMachine machine) {
        requireTables(machine.masks().length * WORD);
        return tables.add(machine.masks());
    }

    private void requireTables(int bytes) {
        if (!tables.hasRoom(bytes)) {
            throw code.refused("patterns and texts need more than " + Tables.MAX_BYTES
                    + " bytes of tables in all; a pattern needs 2,048, a text its length");
        }
    }

    private static int words(int bytes) {
        return (bytes + WORD - 1) / WORD;
    }

    private void address(int register, Window window, int plus) {
        code.move(register, window.base());
        if (window.offset() + plus != 0) {
            code.compute(Opcodes.ADD, register, window.offset() + plus);
        }
    }

    private void copy(Window to, int base, int offset, int bytes) {
        for (int at = 0; at < bytes; at += WORD) {
            code.load(WORD, R1, base, offset + at);
            code.store(to.base(), to.offset() + at, R1);
        }
    }

    private void compare(Window window, int base, int offset, int words, String unequal) {
        for (int at = 0; at < words * WORD; at += WORD) {
            code.load(WORD, R1, window.base(), window.offset() + at);
            code.load(WORD, R2, base, offset + at);
            code.jumpIfWith(Opcodes.JNE, R1, R2, unequal);
        }
    }

    private void lengthOfComm(Window window) {
        String loop = code.label();
        String end = code.label();
        address(R1, window, 0);
        code.constant(R0, 0);
        code.place(loop);
        code.load(1, R2, R1, 0);
        code.jumpIf(Opcodes.JEQ, R2, 0, end);
        code.compute(Opcodes.ADD, R1, 1);
        code.compute(Opcodes.ADD, R0, 1);
        code.jumpIf(Opcodes.JLT, R0, EventField.COMM_SIZE, loop);
        code.place(end);
    }

    /**
     * Reads text at R9 up to NUL. The helper always writes a NUL, so it reads one byte less than there is room for. If
     * the text is longer, the last byte is read separately.
     */
    private void readToNul(Window window, int bound) {
        String end = code.label();
        address(R1, window, 0);
        code.constant(R2, bound);
        code.move(R3, R9);
        code.readUserText();
        code.compute(Opcodes.SUB, R0, 1);
        code.jumpIf(Opcodes.JLT, R0, bound - 1, end);
        address(R1, window, bound - 1);
        code.constant(R2, 1);
        code.move(R3, R9);
        code.compute(Opcodes.ADD, R3, bound - 1);
        code.readUser();
        code.load(1, R1, window.base(), window.offset() + bound - 1);
        code.constant(R0, bound - 1);
        code.jumpIf(Opcodes.JEQ, R1, 0, end);
        code.constant(R0, bound);
        code.place(end);
    }

    /** Reads R1 bytes at R3, but not more than the bound. */
    private void readLength(Window window, int bound, boolean signed) {
        if (signed) {
            String positive = code.label();
            code.jumpIf(Opcodes.JSGE, R1, 0, positive);
            code.constant(R1, 0);
            code.place(positive);
        }
        String inside = code.label();
        code.jumpIf(Opcodes.JLE, R1, bound, inside);
        code.constant(R1, bound);
        code.place(inside);
        code.move(R2, R1);
        code.move(R9, R1);
        address(R1, window, 0);
        code.readUser();
        code.move(R0, R9);
    }
}
