package io.bpf4j.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.fuzz.FuzzTarget;
import io.bpf4j.test.fuzz.Limits;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.lang.model.SourceVersion;

/**
 * Any names become identifiers, each given once; a text in a literal is that text, and in a comment it ends neither the
 * comment nor a line. An input is lines, a name on each.
 */
class JavaNamesFuzzTest extends FuzzTarget {
    private static final Set<String> RESERVED = Set.of("close", "Builder", "get2");

    @Override
    protected List<byte[]> seeds() {
        return List.of(
                bytes("event\nu64_t\nduration_ns\npid\nclass\nhash_code\nCONFIG_HZ\nfunc.counter"),
                bytes("*/ static int x;/*\n\\u000a\n\"\n{\n}\n//\n<p>\n$\n$L\n@\n\u2028\u00e9"),
                bytes("Builder\nget\nget2\nget\n_\n1\n__\nclose\nclose\nclose_"));
    }

    @Override
    protected List<String> words() {
        return List.of(
                "*/",
                "/*",
                "\\u000a",
                "\\u002a/",
                "\"",
                "\\",
                "\n",
                "\r",
                "\u2028",
                "\u0085",
                "class",
                "record",
                "yield",
                "equals",
                "_",
                "2",
                "\u00e9",
                "get",
                "close");
    }

    /** Each line is a name of four kinds, and the assertions take more than the names. */
    @Override
    protected Limits limits() {
        return Limits.USUAL.withMaxLength(400).withBytes(4 << 20, 20_000);
    }

    @Override
    protected void read(byte[] input) {
        JavaNames java = new JavaNames(RESERVED);
        Set<String> given = new HashSet<>();
        for (String name : new String(input, StandardCharsets.UTF_8).split("\n", -1)) {
            for (String claimed : List.of(
                    java.claim(JavaNames.member(name)),
                    java.claim(JavaNames.type(name), "Struct"),
                    java.claim(JavaNames.constant(name)),
                    java.claimNumbered("union"))) {
                assertThat(SourceVersion.isName(claimed)).as(claimed).isTrue();
                assertThat(given.add(claimed)).as(claimed).isTrue();
                assertThat(RESERVED).doesNotContain(claimed);
                assertThat(claimed).hasSizeLessThan(120);
            }
            assertThat(CText.safe(name)).doesNotContain("*/", "\\", "\n", "\r", "@", "{", "&");
            String literal = CText.literal(name).toString();
            assertThat(text(literal)).isEqualTo(name);
        }
    }

    /** The text of a literal as the compiler reads it (JLS 3.3, 3.10.7): first escapes of Unicode, then the others. */
    private static String text(String literal) {
        StringBuilder chars = new StringBuilder();
        for (int i = 0; i < literal.length(); i++) {
            char c = literal.charAt(i);
            if (c == '\\' && literal.charAt(i + 1) == 'u') {
                chars.append('\\').append((char) Integer.parseInt(literal.substring(i + 2, i + 6), 16));
                // An escaped character stands for itself: none of them is a quote, a backslash or a line end.
                assertThat(chars.charAt(chars.length() - 1)).isNotIn('"', '\\', '\n', '\r');
                chars.deleteCharAt(chars.length() - 2);
                i += 5;
            } else if (c == '\\') {
                chars.append(c).append(literal.charAt(++i));
            } else {
                assertThat(c).isNotIn('\n', '\r');
                chars.append(c);
            }
        }
        assertThat(chars.charAt(0)).isEqualTo('"');
        StringBuilder text = new StringBuilder();
        int i = 1;
        while (chars.charAt(i) != '"') {
            if (chars.charAt(i) != '\\') {
                text.append(chars.charAt(i++));
            } else if (Character.isDigit(chars.charAt(i + 1))) {
                text.append((char) Integer.parseInt(chars.substring(i + 1, i + 4), 8));
                i += 4;
            } else {
                text.append(chars.charAt(i + 1));
                i += 2;
            }
        }
        assertThat(i).isEqualTo(chars.length() - 1);
        return text.toString();
    }

    @Override
    protected List<Growth> growths() {
        return List.of(
                new Growth("equal names", count -> bytes("same\n".repeat(count))),
                new Growth("names that others would get", count -> {
                    StringBuilder names = new StringBuilder();
                    for (int i = 0; i < count; i++) {
                        names.append("same").append(i).append("\nsame\n");
                    }
                    return bytes(names.toString());
                }));
    }
}
