package io.bpf4j.usdt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtSite;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProbePatternTest {

    @ParameterizedTest
    @CsvSource({
        "hotspot:gc__begin, true",
        "hotspot:gc-begin, true",
        "hotspot*:gc__*, true",
        "*:*, true",
        "hotspot1234:::gc-begin, true",
        "hotspot:libjvm.so:collect:gc-begin, true",
        ":::gc-begin, true",
        "hotspot1234:gc-begin, false",
        ":gc__begin, true",
        "hotspot:, true",
        "gc__begin, true",
        "*:?c__b*n, true",
        "hotspot:gc__end, false",
        "hotspo:gc__begin, false",
        "hotspot:gc_, false",
        "hotspot:*x, false",
        "hotspot:gc__begin?, false",
        "::gc-begin, true",
        "::gc__end, false",
        "hots[op]ot:gc__[a-c]egin, true",
        "hots[!o]ot:gc__begin, true",
        "hots[^p]ot:gc__begin, false",
        "hotspot:gc__[!a-c]egin, false",
        "hotspot:gc[-_]_begin, true",
        "hotspot:gc-[b]egin, true",
        "hotspot$target:::gc-begin, true",
        "hotspot*:::gc-begin, true",
        "hotspot:a:b:c:gc__begin, false",
        "hotspot:gc\\_\\_begin, true",
        "hotspot:gc__begi\\?, false",
        "hotspot:gc__[begin, false",
        "hotspot:gc__{begin, false",
        "hotspot:gc__{begin}, false",
    })
    void matches(String pattern, boolean expected) {
        assertThat(ProbePattern.parse(pattern).matches("hotspot", "gc__begin")).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "hotspot:gc__{begin,end}        | true",
                "hotspot:gc__{start,end}        | false",
                "{hot,cold}spot:gc-{b,c}*       | true",
                "hotspot:{gc__{begin,end},x}    | true",
                "hotspot:{gc__{start,end},x}    | false",
                "hotspot:gc__begin{,2}          | true",
                "hotspot:gc__{[a,b]egin,x}      | true",
                "hotspot:gc__{\\{,b}egin         | true",
                "hotspot:{,}{,}gc__begin{,{,}}  | true",
            })
    void bracesAreAlternatives(String pattern, boolean expected) {
        assertThat(ProbePattern.parse(pattern).matches("hotspot", "gc__begin")).isEqualTo(expected);
        assertThat(ProbePattern.parse(pattern).isExact()).isFalse();
    }

    @Test
    void aHyphenIsTwoUnderscoresInTheProviderToo() {
        assertThat(ProbePattern.parse("my-app:x").matches("my__app", "x")).isTrue();
        assertThat(ProbePattern.parse("my-app:x").matches("my-app", "x")).isTrue();
        assertThat(ProbePattern.parse("my-app12:::x").matches("my__app", "x")).isTrue();
    }

    @Test
    void theModuleIsTheFileWithoutItsDirectories() {
        UsdtBinary binary = new UsdtBinaryData(
                Path.of("/proc/1/root/usr/lib/libx.so.1"),
                "/usr/lib/libx.so.1",
                Machine.X86_64,
                false,
                new FileIdentity(1, 2, 3, 4),
                Optional.empty());
        UsdtProbe probe = UsdtProbe.of(binary, "p", "n", List.of(UsdtSite.at(0x1000, 0x1000)));
        assertThat(ProbePattern.parse("p:libx.so*::n").matches(probe)).isTrue();
        assertThat(ProbePattern.parse("libx.so.1::n").matches(probe)).isTrue();
        assertThat(ProbePattern.parse("p:liby*::n").matches(probe)).isFalse();
        assertThat(ProbePattern.parse("p:lib::n").matches(probe)).isFalse();
        assertThat(ProbePattern.parse("p:::n")).hasToString("p:n");
        assertThat(ProbePattern.parse("p:libx*::n-x")).hasToString("p:libx*:*:n-x");
    }

    @Test
    void aNameWithColonsIsTheRestOfFourParts() {
        assertThat(ProbePattern.parse("p:::a:b").matches("p", "a:b")).isTrue();
        assertThat(ProbePattern.parse("p12:::a::c:").matches("p", "a::c:")).isTrue();
        assertThat(ProbePattern.parse("p:::*").matches("p", "a:b:c")).isTrue();
        assertThat(ProbePattern.parse("p:::a:b").matches("p", "b")).isFalse();
        assertThat(ProbePattern.parse("p:::a:b").matches("p", "a")).isFalse();
        assertThat(ProbePattern.processOf("p12:::a:b")).hasValue(12);
        assertThat(ProbePattern.meansTarget("p$target:::a:b")).isTrue();
    }

    @Test
    void theTargetStandsWhereAProcessIdCould() {
        assertThat(ProbePattern.meansTarget("postgresql$target:::query-start")).isTrue();
        assertThat(ProbePattern.meansTarget("$target:::x")).isTrue();
        assertThat(ProbePattern.meansTarget("postgresql$target:query-start")).isFalse();
        assertThat(ProbePattern.meansTarget("postgresql:::$target")).isFalse();
        assertThat(ProbePattern.processOf("postgresql$target:::query-start")).isEmpty();
    }

    @Test
    void bracesThatNestDeeplyAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ProbePattern.parse("p:" + "{a,".repeat(5_000) + "}".repeat(5_000)));
        assertThat(ProbePattern.parse("p:" + "{".repeat(5_000)).matches("p", "{".repeat(5_000)))
                .isTrue();
    }

    @Test
    void onlyAPatternWithoutWildcardsIsExact() {
        assertThat(ProbePattern.parse("a:b").isExact()).isTrue();
        assertThat(ProbePattern.parse("a:b*").isExact()).isFalse();
        assertThat(ProbePattern.parse("b").isExact()).isFalse();
        assertThat(ProbePattern.parse("a:b-c").isExact()).isTrue();
        assertThat(ProbePattern.parse("a:b[c]").isExact()).isTrue();
        assertThat(ProbePattern.parse("a:b[cd]").isExact()).isFalse();
    }

    @Test
    void aProcessStandsBehindTheProviderOfAFourPartNameOnly() {
        assertThat(ProbePattern.processOf("postgresql1234:::query-start")).hasValue(1234);
        assertThat(ProbePattern.processOf("postgresql1234:postgres:f:query-start"))
                .hasValue(1234);
        assertThat(ProbePattern.processOf("postgresql1234:query-start")).isEmpty();
        assertThat(ProbePattern.processOf("postgresql*:::query-start")).isEmpty();
        assertThat(ProbePattern.processOf("postgresql12345678901:::query-start"))
                .isEmpty();
        assertThat(ProbePattern.processOf("1234:::query-start")).isEmpty();
    }
}
