package io.bpf4j.metrics.internal;

import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.Gap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The parts of an answer that a metric needs, as an interface, so that tests need no kernel. */
public interface AnswerSource {
    List<String> keys();

    Optional<Distribution> emptyDistribution();

    Optional<String> unit();

    List<Answer.Row> rows();

    Map<Gap, Long> gaps();

    boolean isExact();

    /**
     * Whether what the value of a key names has ended; false if that is not known.
     *
     * @see Answer#hasEnded
     */
    boolean hasEnded(String key, Object value);

    /**
     * The source for a running answer.
     *
     * @throws IllegalArgumentException if the answer has no rows, because its question only shows events
     */
    static AnswerSource of(Answer answer) {
        if (answer.showsEvents() && answer.emptyDistribution().isEmpty()) {
            throw new IllegalArgumentException(
                    "a question that shows events and computes nothing has no metric; without"
                            + " show, its events are counted");
        }
        return new AnswerSource() {
            @Override
            public List<String> keys() {
                return answer.keys();
            }

            @Override
            public Optional<Distribution> emptyDistribution() {
                return answer.emptyDistribution();
            }

            @Override
            public Optional<String> unit() {
                return answer.unit();
            }

            @Override
            public List<Answer.Row> rows() {
                return answer.rows();
            }

            @Override
            public Map<Gap, Long> gaps() {
                return answer.gaps();
            }

            @Override
            public boolean isExact() {
                return answer.isExact();
            }

            @Override
            public boolean hasEnded(String key, Object value) {
                return answer.hasEnded(key, value);
            }
        };
    }
}
