package io.bpf4j.trace;

import io.bpf4j.elf.internal.text.CString;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;

/**
 * Reads the records of {@code question.bpf.c}: an event that a question shows is a {@code struct question_record} of
 * {@code question.h}, which asserts these offsets, and after it the values that are shown. <i>Confined.</i>
 *
 * <p>Tested by {@code RecordsByCompilerTest}, {@code QuestionsOnKernelTest} and {@code QuestionFaultsTest}.
 */
final class EventReader {
    private static final int NSECS = 0;
    private static final int COOKIE = 8;
    private static final int VALUE = 16;
    private static final int PID = 24;
    private static final int TID = 28;
    private static final int COMM = 32;
    private static final int BITS = 48;
    private static final int SHOWN = 56;

    private static final int COMM_SIZE = 16;

    // enum question_record_bit
    private static final int FAILED = 1;
    private static final int PAUSED = 2;

    private final CompiledQuestion question;
    private final ProbeNumbers numbers;
    private final AnswerTable table;

    /** @param table knows the names of control groups */
    EventReader(CompiledQuestion question, ProbeNumbers numbers, AnswerTable table) {
        this.question = question;
        this.numbers = numbers;
        this.table = table;
    }

    Answer.Event event(MemorySegment record) {
        boolean failed = has(record, FAILED);
        byte[] shown = record.asSlice(SHOWN, question.shownBytes()).toArray(ValueLayout.JAVA_BYTE);
        return new Answer.Event(
                record.get(ValueLayout.JAVA_LONG_UNALIGNED, NSECS),
                numbers.name(record.get(ValueLayout.JAVA_LONG_UNALIGNED, COOKIE)),
                pid(record),
                record.get(ValueLayout.JAVA_INT_UNALIGNED, TID),
                CString.of(record.asSlice(COMM, COMM_SIZE)),
                record.get(ValueLayout.JAVA_LONG_UNALIGNED, VALUE),
                failed ? Map.of() : question.shownOf(shown, numbers, table::groupName),
                failed);
    }

    static int pid(MemorySegment record) {
        return record.get(ValueLayout.JAVA_INT_UNALIGNED, PID);
    }

    /** Whether the program has stopped the process, until its record is read. */
    static boolean isPaused(MemorySegment record) {
        return has(record, PAUSED);
    }

    private static boolean has(MemorySegment record, int bit) {
        return (record.get(ValueLayout.JAVA_LONG_UNALIGNED, BITS) & bit) != 0;
    }
}
