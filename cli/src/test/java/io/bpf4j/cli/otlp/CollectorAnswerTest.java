package io.bpf4j.cli.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CollectorAnswerTest {
    /** {@code partial_success {rejected_data_points: 300, error_message: "too old"}}, then an unknown field. */
    private static final byte[] PARTIAL = HexFormat.of().parseHex("0a0c08ac021207746f6f206f6c642001");

    /** {@code code: 3, message: "no such tenant"}. */
    private static final byte[] STATUS = HexFormat.of().parseHex("0803120e6e6f20737563682074656e616e74");

    @Test
    void aCollectorMayTakeAPart() {
        assertThat(CollectorAnswer.taken(PARTIAL)).contains(new CollectorAnswer(300, "too old"));
        assertThat(CollectorAnswer.taken(new byte[0])).contains(new CollectorAnswer(0, ""));
        assertThat(CollectorAnswer.taken(new byte[] {0x0a, 0})).contains(new CollectorAnswer(0, ""));
    }

    @Test
    void aRefusalHasWords() {
        assertThat(CollectorAnswer.refusal(STATUS)).isEqualTo("no such tenant");
        assertThat(CollectorAnswer.refusal(new byte[0])).isEmpty();
    }

    @Test
    void wordsAreOneShortLineWithoutSecrets() {
        assertThat(Outcome.shown("  first\nsecond", List.of())).isEqualTo("first");
        assertThat(Outcome.shown("x".repeat(100_000), List.of())).hasSize(Outcome.MAX_WORDS + 1);
        assertThat(Outcome.shown("\u001b[2J", List.of())).doesNotContain("\u001b");
        assertThat(Outcome.shown("no Bearer 'token-1234' here", List.of("Bearer token-1234")))
                .isEqualTo("no Bearer '…' here");
        // Not the first part of one, either.
        String late = "x".repeat(Outcome.MAX_WORDS - 3) + "token-1234";
        assertThat(Outcome.shown(late, List.of("token-1234"))).doesNotContain("t");
    }

    @Test
    void whatIsNoMessageIsNone() {
        assertThat(CollectorAnswer.taken("<html>".getBytes(StandardCharsets.UTF_8)))
                .isEmpty();
        assertThat(CollectorAnswer.taken(new byte[] {0})).isEmpty(); // field 0
        assertThat(CollectorAnswer.taken(new byte[] {0x0a, 5, 1})).isEmpty(); // longer than all
        assertThat(CollectorAnswer.taken(new byte[] {0x0b})).isEmpty(); // a group
        byte[] endless = new byte[20];
        Arrays.fill(endless, (byte) 0xff);
        assertThat(CollectorAnswer.taken(endless)).isEmpty();
        assertThat(CollectorAnswer.refusal(endless)).isEmpty();
        // A length of 2^63 and more.
        assertThat(CollectorAnswer.taken(HexFormat.of().parseHex("0affffffffffffffffff01")))
                .isEmpty();
    }

    @Test
    void truncatedAndChangedMessagesEndWell() {
        for (byte[] message : new byte[][] {PARTIAL, STATUS}) {
            for (int length = 0; length < message.length; length++) {
                read(Arrays.copyOf(message, length));
            }
            for (int bit = 0; bit < message.length * Byte.SIZE; bit++) {
                byte[] changed = message.clone();
                changed[bit / Byte.SIZE] ^= (byte) (1 << (bit % Byte.SIZE));
                read(changed);
            }
        }
        Random random = new Random(1);
        for (int i = 0; i < 100_000; i++) {
            byte[] bytes = new byte[random.nextInt(24)];
            random.nextBytes(bytes);
            read(bytes);
        }
    }

    private static void read(byte[] bytes) {
        Optional<CollectorAnswer> answer = CollectorAnswer.taken(bytes);
        answer.ifPresent(found -> {
            assertThat(found.rejected()).isNotNegative();
            assertThat(found.message().length()).isLessThanOrEqualTo(bytes.length);
        });
        assertThat(CollectorAnswer.refusal(bytes).length()).isLessThanOrEqualTo(bytes.length);
    }
}
