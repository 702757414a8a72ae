package io.bpf4j.trace;

/** What is made of the events: {@code enum question_kind} of {@code question.h}, in its order. */
enum QuestionKind {
    COUNT,
    HISTOGRAM,
    LATENCY,
    EVENTS
}
