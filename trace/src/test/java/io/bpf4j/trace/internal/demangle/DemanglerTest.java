package io.bpf4j.trace.internal.demangle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code DemanglerOnLibrariesTest} compares all symbols of large libraries with c++filt. */
class DemanglerTest {
    /** Symbol, name, name without parameters, as c++filt has them. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                _ZN3foo3barEi | foo::bar(int) | foo::bar
                _ZNK3foo3barEv | foo::bar() const | foo::bar
                _Z1fv | f() | f
                _Z1fz | f(...) | f
                _Z3fooIiEvT_ | void foo<int>(int) | foo<int>
                _ZZ3fooIiEvT_ENKUlvE_clEv | foo<int>(int)::{lambda()#1}::operator()() const | foo<int>(int)::{lambda()#1}::operator()
                _ZZ3fooIiEvT_ENKUlS_E_clEi | foo<int>(int)::{lambda(foo)#1}::operator()(int) const | foo<int>(int)::{lambda(foo)#1}::operator()
                _ZZN1A1fEvENKUlT_E_clIiEEDaS0_ | auto A::f()::{lambda(auto:1)#1}::operator()<int>(int) const | A::f()::{lambda(auto:1)#1}::operator()<int>
                _ZNSt6vectorIiSaIiEE9push_backEOi | std::vector<int, std::allocator<int> >::push_back(int&&) | std::vector<int, std::allocator<int> >::push_back
                _ZNSt3mapISsiSt4lessISsESaISt4pairIKSsiEEEixERS3_ | std::map<std::basic_string<char, std::char_traits<char>, std::allocator<char> >, int, std::less<std::basic_string<char, std::char_traits<char>, std::allocator<char> > >, std::allocator<std::pair<std::basic_string<char, std::char_traits<char>, std::allocator<char> > const, int> > >::operator[](std::basic_string<char, std::char_traits<char>, std::allocator<char> > const&) | std::map<std::basic_string<char, std::char_traits<char>, std::allocator<char> >, int, std::less<std::basic_string<char, std::char_traits<char>, std::allocator<char> > >, std::allocator<std::pair<std::basic_string<char, std::char_traits<char>, std::allocator<char> > const, int> > >::operator[]
                _ZN12_GLOBAL__N_13fooEv | (anonymous namespace)::foo() | (anonymous namespace)::foo
                _ZN1AC1ERKS_ | A::A(A const&) | A::A
                _ZN1AD0Ev | A::~A() | A::~A
                _ZN3FooIcED2Ev | Foo<char>::~Foo() | Foo<char>::~Foo
                _ZN1AaSEOS_ | A::operator=(A&&) | A::operator=
                _ZN1AcvbEv | A::operator bool() | A::operator bool
                _ZN1AcvT_IiEEv | A::operator int<int>() | A::operator int<int>
                _ZN3FoocvPT_IiEEv | Foo::operator int*<int>() | Foo::operator int*<int>
                _ZnwmPv | operator new(unsigned long, void*) | operator new
                _ZdaPv | operator delete[](void*) | operator delete[]
                _ZN1AclEv | A::operator()() | A::operator()
                _ZltRK1AS1_ | operator<(A const&, A const&) | operator<
                _ZN1AltIiEEvT_ | void A::operator< <int>(int) | A::operator< <int>
                _Z1fPFviE | f(void (*)(int)) | f
                _Z1fPFvPFviEE | f(void (*)(void (*)(int))) | f
                _Z1fRA2_A3_i | f(int (&) [2][3]) | f
                _Z1fM1AFvvE | f(void (A::*)()) | f
                _Z1fM1AKFviE | f(void (A::*)(int) const) | f
                _Z1fM1Ai | f(int A::*) | f
                _Z1fRKPVKi | f(int const volatile* const&) | f
                _ZNKR1A1fEv | A::f() const & | A::f
                _ZNO1A1fEv | A::f() && | A::f
                _Z1fIJiclEEvDpT_ | void f<int, char, long>(int, char, long) | f<int, char, long>
                _Z1fIJEEvDpT_ | void f<>() | f<>
                _Z1fIJRiOcEEvDpOT_ | void f<int&, char&&>(int&, char&&) | f<int&, char&&>
                _Z1fILi3ELb1ELc65ELm7EEvv | void f<3, true, (char)65, 7ul>() | f<3, true, (char)65, 7ul>
                _ZTV1A | vtable for A | vtable for A
                _ZTI1A | typeinfo for A | typeinfo for A
                _ZTS1A | typeinfo name for A | typeinfo name for A
                _ZTT1A | VTT for A | VTT for A
                _ZThn16_N1A1fEv | non-virtual thunk to A::f() | non-virtual thunk to A::f()
                _ZTv0_n24_N1A1fEv | virtual thunk to A::f() | virtual thunk to A::f()
                _ZTch0_v0_n24_N1A1fEv | covariant return thunk to A::f() | covariant return thunk to A::f()
                _ZGVZ1fvE1x | guard variable for f()::x | guard variable for f()::x
                _ZTCN1AE16_1B | construction vtable for B-in-A | construction vtable for B-in-A
                _ZL6staticv | static() | static
                _ZN1A1fEv.cold | A::f() [clone .cold] | A::f
                _ZN1A1fEv.isra.0.constprop.1 | A::f() [clone .isra.0] [clone .constprop.1] | A::f
                _ZN1A1fB5cxx11Ev | A::f[abi:cxx11]() | A::f[abi:cxx11]
                _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4sizeEv | std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::size() const | std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::size
                _Z1fIiEDTplfp_Li1EET_ | decltype ({parm#1}+(1)) f<int>(int) | f<int>
                _Z1fDn | f(decltype(nullptr)) | f
                _Z1fDsDiDu | f(char16_t, char32_t, char8_t) | f
                _Z1fu3fooU8__vectori | f(foo, int __vector) | f
                _Z1fIXadL_ZN1A1gEvEEEvv | void f<&A::g>() | f<&A::g>
                _Z1fIXadL_Z1gvEEEvv | void f<&(g())>() | f<&(g())>
                _ZN1A1fEPS_S0_ | A::f(A*, A*) | A::f
                _Z1fIiENSt9enable_ifIXsr11is_integralIT_EE5valueEvE4typeES1_ | std::enable_if<is_integral<int>::value, void>::type f<int>(int) | f<int>
                _ZZ4mainE1x | main::x | main::x
                _ZZ4mainE1x_0 | main::x | main::x
                _ZZ1fvENUt_1gEv | f()::{unnamed type#1}::g() | f()::{unnamed type#1}::g
                _ZZN1A1fEvEs | A::f()::string literal | A::f()::string literal
                _Zli2_xPKc | operator"" _x(char const*) | operator"" _x
                _ZN3foo3bar17h0000000000000000E | foo::bar::h0000000000000000 | foo::bar::h0000000000000000
                """)
    void namesOfCpp(String symbol, String name, String withoutParameters) {
        assertThat(Demangler.demangle(symbol)).isEqualTo(name);
        assertThat(Demangler.withoutParameters(symbol)).isEqualTo(withoutParameters);
    }

    /** Hashes of crates and types of constants, which c++filt has, are left out. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                _RNvC7mycrate3foo | mycrate::foo
                _RNvNtCs1234_7mycrate3foo3bar | mycrate::foo::bar
                _RINvNtC3std3mem8align_ofdE | std::mem::align_of::<f64>
                _RNvMNtC4core3strNtB2_3Foo3bar | <core::str::Foo>::bar
                _RNvXs_C7mycrateNtB4_3FooNtB4_5Trait3foo | <mycrate::Foo as mycrate::Trait>::foo
                _RNCNvC1a4main0 | a::main::{closure#0}
                _RNCNvC1a4mains_0 | a::main::{closure#1}
                _RINvC1a1fTxEE | a::f::<(i64,)>
                _RINvC1a1fTxjEE | a::f::<(i64, usize)>
                _RINvC1a1fReE | a::f::<&str>
                _RINvC1a1fQhE | a::f::<&mut u8>
                _RINvC1a1fAhj20_E | a::f::<[u8; 32]>
                _RINvC1a1fPhOhE | a::f::<*const u8, *mut u8>
                _RINvC1a1fFUKCmEuE | a::f::<unsafe extern "C" fn(u32)>
                _RINvC1a1fFhEtE | a::f::<fn(u8) -> u16>
                _RINvC1a1fDNtC1b5TraitEL_E | a::f::<dyn b::Trait>
                _RINvC1a1fDINtC1b5TraithEp4ItemmEL_E | a::f::<dyn b::Trait<u8, Item = u32>>
                _RINvC1a1fFG_RL0_hEuE | a::f::<for<'a> fn(&'a u8)>
                _RINvC1a1fKb1_Kc41_Kln5_E | a::f::<true, 'A', -5>
                _RNvC1au8gdel_5qa | a::gödel
                _ZN4core3fmt5Write9write_fmt17h0123456789abcdefE | core::fmt::Write::write_fmt
                _ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE | <alloc::vec::Vec<T> as core::ops::drop::Drop>::drop
                """)
    void namesOfRust(String symbol, String name) {
        assertThat(Demangler.demangle(symbol)).isEqualTo(name);
        assertThat(Demangler.withoutParameters(symbol)).isEqualTo(name);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "_",
                "_Z",
                "_ZN",
                "_ZN3fo",
                "_R",
                "_RNv",
                "_ZN99999999999999999999fooE",
                "_ZS_",
                "_RB_",
                "_RNvB_3foo",
                "main",
                "_ZNE",
                "_ZC1v",
                "_ZZ1fE",
                "_RNvC1a1f?",
                "_RNvC1au3___",
                "_RNvC1a9999999999f"
            })
    void whatIsNoSymbolStaysAsItIs(String text) {
        assertThat(Demangler.withoutParameters(text)).isEqualTo(text);
        assertThat(Demangler.demangle(text)).isEqualTo(text);
    }

    @Test
    void aSymbolThatMeansMoreThanIsPrintedStaysAsItIs() {
        // Each part is a pair of the one before: the last has 2 to the power of 60 words.
        StringBuilder cpp = new StringBuilder("_Z1fSt4pairIiiE");
        String last = "S0_";
        for (int i = 1; i < 36; i++) {
            cpp.append("S_I").append(last).append(last).append("E");
            last = "S" + Integer.toString(i, 36).toUpperCase(java.util.Locale.ROOT) + "_";
        }
        assertThat(Demangler.demangle(cpp.toString())).isEqualTo(cpp.toString());
        StringBuilder rust = new StringBuilder("_RINvC1a1fT");
        int before = rust.length() - 2;
        rust.append("hh");
        for (int i = 0; i < 60; i++) {
            int here = rust.length() - 2;
            String reference = "B" + base62(before);
            rust.append("T").append(reference).append(reference).append("E");
            before = here;
        }
        rust.append("EE");
        assertThat(Demangler.demangle(rust.toString())).isEqualTo(rust.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"P", "N1a", "F", "I", "Z1f", "XngL", "Dp", "A_", "M1a", "T", "S", "R", "C", "Y", "J", "cl"})
    void deepSymbolsEnd(String part) {
        for (String start : new String[] {"_Z1f", "_Z", "_ZN1a", "_Z1fI", "_ZN", "_RINvC1a1f", "_R"}) {
            String symbol = start + part.repeat(20_000);
            assertThat(Demangler.demangle(symbol)).isNotNull();
        }
    }

    @Test
    void anyTextIsReadWithoutAnError() {
        String[] symbols = {
            "_ZZN5outerI3FooIJicEEE3runIiEEDTplfp_Li1EET_PFvRKS3_EENKUlS4_T_E_clIdEEDaS4_S6_.isra.0",
            "_ZNSt8functionIFvRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEEC1IPFvS8_EvEEOT_",
            "_RNvXs_INtC4core6OptionINtNtC5alloc3vec3VecFG_RL0_hDNtB2_5Tracep4ItemmEL_EuEKj20_ENtB2_5Clone5cloneCs1_1x",
            "_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE"
        };
        String letters = "_SITNEZXLPRKFJDdtpAMUlvi0123456789C$.BsuGxyznQw";
        Random random = new Random(3);
        for (String symbol : symbols) {
            for (int end = 0; end <= symbol.length(); end++) {
                assertThat(Demangler.demangle(symbol.substring(0, end))).isNotNull();
            }
            for (int i = 0; i < 20_000; i++) {
                StringBuilder changed = new StringBuilder(symbol);
                for (int n = random.nextInt(3); n >= 0; n--) {
                    changed.setCharAt(
                            2 + random.nextInt(symbol.length() - 2), letters.charAt(random.nextInt(letters.length())));
                }
                assertThat(Demangler.demangle(changed.toString())).isNotNull();
            }
        }
    }

    private static String base62(int value) {
        String digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        if (value == 0) {
            return "_";
        }
        int rest = value - 1;
        String text = "";
        do {
            text = digits.charAt(rest % 62) + text;
            rest /= 62;
        } while (rest > 0);
        return text + "_";
    }
}
