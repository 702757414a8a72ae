package io.bpf4j.trace;

/** What a question computes from the events: {@code enum question_kind} of {@code question.h}. */
enum QuestionKind {
    COUNT(0),
    HISTOGRAM(1),
    LATENCY(2),
    EVENTS(3);

    private final int number;

    QuestionKind(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }
}
