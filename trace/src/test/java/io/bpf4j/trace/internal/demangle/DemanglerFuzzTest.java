package io.bpf4j.trace.internal.demangle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Any text is a name or a malformed symbol. The readers are called directly: {@link Demangler} would hide what they
 * throw. What was found once is in {@code findings.txt}, a symbol a line.
 */
class DemanglerFuzzTest {
    private static final String SEED_OF_PROPERTIES = "20261126";

    /** Mixed into jqwik's, which is a constant of the annotation. */
    private static final long SEED = Long.getLong("bpf4j.test.seed", 0);

    private static final String[] STARTS = {"_Z", "_ZN", "_ZNK", "_Z1f", "_ZN1a", "_ZZ1fvE", "_R", "_RNv", "_RINvC1a1f"
    };

    /** What the grammars consist of. */
    private static final String[] PARTS =
            ("N E S_ S0_ S1_ S2_ SZ_ St Sa Sb Ss Si So Sd T_ T0_ TL0_ I J X L Z M K V r P R O F A A3_ A_ C1 D2 CI1 D0 "
                            + "U Ut_ Ul Ul0_ DC Dp Dt DT Dn Do DO Dv Dv4_ DF16_ DFb DB8_ DU_ Da Dc B1x 1a 3foo 0 9 12 _ __1_ i v z b "
                            + "c j m cv li1x v01y nw aw pl ad de ix cl qu sr on gs st sz at az nx sZ sp sc dc tl il dt pt fp fp_ "
                            + "fL0p_ fpT L_Z Lb1E Li5E LPKc0E TV TI TS TC Th0_ Tv0_n8_ Tc TA GR GV GTt GA H W .cold .isra.0 .1.2.3 . "
                            + "s_ s0_ B_ B0_ B1_ Bz_ C1a Nv NC NS MC XC Y u4a_bc u p p4Item G_ G5_ Gzz_ D FK FU KC RL0_ L_ Kj20_ Kb1_ "
                            + "Kc41_ Kln5_ h e l 17h0123456789abcdef $LT$ $u20$ ..")
                    .split(" ", -1);

    @Property(tries = 50_000, seed = SEED_OF_PROPERTIES)
    void anyTextIsANameOrMalformed(@ForAll("symbols") String symbol) {
        read(symbol);
    }

    @ParameterizedTest
    @MethodSource("findings")
    void whatWasFoundIsANameOrMalformed(String symbol) {
        read(symbol);
        assertThat(Demangler.demangle(symbol)).isNotEmpty();
        assertThat(Demangler.withoutParameters(symbol)).isNotEmpty();
    }

    /** Each type is a function of the one before, twice. The pack of the whole is looked for before it is written. */
    @Test
    void partsWithinPartsTakeNoTime() {
        StringBuilder symbol = new StringBuilder("_Z1fIJiEEvDpFvPi");
        String last = "S0_";
        for (int i = 2; i < 200; i++) {
            symbol.append("PFv").append(last).append(last).append('E');
            last = "S" + Integer.toString(2 * i - 2, 36).toUpperCase(java.util.Locale.ROOT) + "_";
        }
        read(symbol + "E");
    }

    /** Parts that contain each other, thousands deep, and numbers without end. */
    @Test
    void longSymbolsEnd() {
        for (String part : PARTS) {
            for (String start : STARTS) {
                read(start + part.repeat(60_000 / part.length()));
                read(start + (part + "S_").repeat(60_000 / (part.length() + 2)));
            }
        }
        StringBuilder chain = new StringBuilder("_Z1f1aK");
        for (int i = 0; i < 9_000; i++) {
            chain.append("S")
                    .append(Integer.toString(i, 36).toUpperCase(java.util.Locale.ROOT))
                    .append("_K");
        }
        read(chain.toString());
        read("_ZN1a" + "B1x".repeat(20_000) + "C1Ev");
        read("_ZN1a" + "IiE".repeat(20_000) + "C1Ev");
    }

    private static void read(String symbol) {
        for (boolean parameters : new boolean[] {true, false}) {
            try {
                String name = symbol.startsWith("_R") ? RustSymbol.demangle(symbol) : cpp(symbol, parameters);
                assertThat(name).hasSizeLessThanOrEqualTo(1 << 14);
            } catch (MalformedSymbolException e) {
                assertThat(e).hasMessage("malformed symbol");
            }
        }
    }

    private static String cpp(String symbol, boolean parameters) throws MalformedSymbolException {
        String rust = RustLegacySymbol.demangle(symbol);
        return rust.isEmpty() ? CppSymbol.demangle(symbol, parameters) : rust;
    }

    static Stream<String> findings() throws IOException {
        try (InputStream in =
                Objects.requireNonNull(DemanglerFuzzTest.class.getResourceAsStream("findings.txt"), "findings.txt")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList().stream();
        }
    }

    @Provide
    Arbitrary<String> symbols() {
        return Arbitraries.randomValue(random -> symbol(new Random(random.nextLong() ^ SEED)));
    }

    private static String symbol(Random random) {
        List<String> parts = new ArrayList<>();
        int count = random.nextInt(random.nextInt(8) == 0 ? 60 : 12);
        for (int i = 0; i <= count; i++) {
            parts.add(PARTS[random.nextInt(PARTS.length)]);
            if (random.nextInt(4) == 0) {
                parts.add("E");
            }
        }
        return STARTS[random.nextInt(STARTS.length)] + String.join("", parts);
    }
}
