package io.bpf4j.usdt.internal.note;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class KnownTextsTest {
    private final KnownTexts texts = new KnownTexts();

    @Test
    void aTextIsFoundByItsBytes() {
        byte[] notes = bytes("-4@%eax\0008@%rbx\0");
        assertThat(texts.find(notes, 0, 7)).isEqualTo(-1);
        texts.put(notes, 0, 7, 5);
        texts.put(notes, 8, 14, 6);
        assertThat(texts.find(bytes("x-4@%eax"), 1, 8)).isEqualTo(5);
        assertThat(texts.find(bytes("8@%rbx"), 0, 6)).isEqualTo(6);
        assertThat(texts.find(bytes("8@%rbx"), 0, 5)).isEqualTo(-1);
        assertThat(texts.find(notes, 3, 3)).isEqualTo(-1);
    }

    @Test
    void manyTextsAreFound() {
        for (int i = 0; i < 10_000; i++) {
            byte[] text = bytes("-4@-" + i + "(%rbp)");
            texts.put(text, 0, text.length, i);
        }
        int found = 0;
        for (int i = 0; i < 10_000; i++) {
            byte[] text = bytes("-4@-" + i + "(%rbp)");
            int number = texts.find(text, 0, text.length);
            assertThat(number).isIn(i, -1);
            found += number == i ? 1 : 0;
        }
        assertThat(found).isGreaterThan(9_000);
    }

    /** "Aa" and "BB" have one hash code, and so have all texts that are made of them. */
    @Test
    void textsOfOneHashCodeAreGivenUp() {
        for (int i = 0; i < 1 << 10; i++) {
            StringBuilder text = new StringBuilder();
            for (int bit = 0; bit < 10; bit++) {
                text.append((i >>> bit & 1) == 0 ? "Aa" : "BB");
            }
            byte[] bytes = bytes(text.toString());
            texts.put(bytes, 0, bytes.length, i);
            assertThat(texts.find(bytes, 0, bytes.length)).isEqualTo(i < 8 ? i : -1);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
