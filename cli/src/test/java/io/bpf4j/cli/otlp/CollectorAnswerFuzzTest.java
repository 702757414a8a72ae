package io.bpf4j.cli.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.fuzz.FuzzTarget;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;

/** Any bytes are an answer or none, and what is shown of them is a short line without a token. */
class CollectorAnswerFuzzTest extends FuzzTarget {
    private static final String TOKEN = "token-12345";

    @Override
    protected List<byte[]> seeds() {
        return List.of(
                HexFormat.of().parseHex("0a0c08ac021207746f6f206f6c642001"),
                HexFormat.of().parseHex("0803120e6e6f20737563682074656e616e741a021801"),
                HexFormat.of().parseHex("0a0b08ffffffffffffffffff01"),
                HexFormat.of().parseHex("0d010203041101020304050607080a00"),
                bytes("<html>" + TOKEN + "\n"));
    }

    @Override
    protected List<String> words() {
        return List.of(TOKEN, "\n", "\u001b[2J");
    }

    @Override
    protected void read(byte[] input) {
        CollectorAnswer.taken(input).ifPresent(answer -> {
            assertThat(answer.rejected()).isNotNegative();
            check(answer.message());
        });
        check(CollectorAnswer.refusal(input));
        check(new String(input, StandardCharsets.UTF_8));
    }

    private static void check(String words) {
        String shown = Outcome.shown(words, List.of("Bearer " + TOKEN));
        assertThat(shown).doesNotContain(TOKEN).doesNotContain("\n").doesNotContain("\u001b");
        // A character that can't be shown is up to eight.
        assertThat(shown.length()).isLessThanOrEqualTo(10 * Outcome.MAX_WORDS);
    }

    @Override
    protected List<Growth> growths() {
        return List.of(
                new Growth("fields", count -> repeated("2001", count)),
                new Growth("answers", count -> repeated("0a0508011201" + "78", count)),
                new Growth("messages", count -> repeated("120178", count)),
                new Growth("digits", count -> repeated("ff", count)),
                new Growth("characters", count -> bytes("x".repeat(count))),
                new Growth("tokens", count -> bytes(TOKEN.repeat(count))));
    }

    private static byte[] repeated(String hex, int count) {
        byte[] part = HexFormat.of().parseHex(hex);
        byte[] all = new byte[part.length * count];
        for (int i = 0; i < count; i++) {
            System.arraycopy(part, 0, all, i * part.length, part.length);
        }
        return all;
    }
}
