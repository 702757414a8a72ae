package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.usdt.ProbePattern;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FunctionPatternTest {
    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            malloc;                malloc;                            malloc
            mal*;                  malloc;                            malloc
            malloc;                malloc_usable_size;
            {mal,cal}loc;          calloc;                            calloc
            {mal,cal}loc;          realloc;
            [mc]alloc;             calloc;                            calloc
            shop::{check,walk}out; _ZN4shop8checkoutERNS_4CartEl;     shop::checkout(shop::Cart&, long)
            {check,walk}out;       _Z8checkouti;
            main::{lambda(int, int)#1}::operator()(int, int) const; _ZZ4mainENKUliiE_clEii; main::{lambda(int, int)#1}::operator()(int, int) const
            shop::checkout;        _ZN4shop8checkoutERNS_4CartEl;     shop::checkout(shop::Cart&, long)
            shop::check*;          _ZN4shop8checkoutERNS_4CartEl;     shop::checkout(shop::Cart&, long)
            shop::Order::pay;      _ZN4shop5Order3payEi;              shop::Order::pay(int)
            shop::Order::pay(int); _ZN4shop5Order3payEi;              shop::Order::pay(int)
            shop::Order::pay(int); _ZN4shop5Order3payEl;
            shop::pay;             _ZN4shop5Order3payEi;
            twice<int>;            _Z5twiceIiET_S0_;                  int twice<int>(int)
            checkout;              _Z8checkouti;                      checkout(int)
            check*;                _Z8checkouti;
            *checkout*;            _Z8checkouti;                      _Z8checkouti
            _Z8checkouti;          _Z8checkouti;                      _Z8checkouti
            shop::checkout;        _RNvC4shop8checkout;               shop::checkout
            shop::Order::pay;      _ZN4shop5Order3payEi.constprop.0;
            shop::Order::pay*;     _ZN4shop5Order3payEi.constprop.0;  shop::Order::pay(int) [clone .constprop.0]
            parse;                 parse.cold;
            parse*;                parse.cold.3;
            parse*;                parse.constprop.0;                 parse.constprop.0
            shop::checkout;        _ZN4shop8checkoutERNS_4CartEl.cold;
            parse.cold;            parse.cold;                        parse.cold
            parse*;                parse.colder;                      parse.colder
            """)
    void matchesSymbolsAndTheirNamesInSources(String pattern, String symbol, String name) {
        assertThat(FunctionPattern.of(pattern).nameOf(symbol).orElse(null)).isEqualTo(name);
    }

    @Test
    void aPairIsNamedInEachForm() {
        FunctionProbe pay = FunctionProbe.exit(Path.of("shop"), "_ZN4shop5Order3payEi");
        assertThat(FunctionPattern.matches(ProbePattern.parse("ur:shop::Order::pay"), pay))
                .isTrue();
        assertThat(FunctionPattern.matches(ProbePattern.parse("ur:_ZN4shop5Order3payEi"), pay))
                .isTrue();
        assertThat(FunctionPattern.matches(ProbePattern.parse("u:shop::Order::pay"), pay))
                .isFalse();
    }

    /** What moved away is jumped to, so the word at the stack pointer is no return address. */
    @Test
    void aPartOfAFunctionHasNoReturn() {
        assertThatThrownBy(() -> FunctionProbe.exit(Path.of("shop"), "parse.cold"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("parse.cold is a moved part of a function");
    }
}
