package io.bpf4j.usdt.site;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.usdt.RunSeed;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class UsdtArgTest {

    @Test
    void readsWhatCompilersWriteLessOften() {
        assertThat(x86("8@8+4-1(%rbx)")).containsExactly(UsdtArg.unsigned(8, UsdtArg.Memory.of("rbx", 11)));
        assertThat(x86("-4@sym.6(%rip)"))
                .containsExactly(UsdtArg.signed(4, UsdtArg.Memory.of("rip", 0).withSymbol("sym.6")));
        assertThat(x86("-4@sym-8(%rip)"))
                .containsExactly(UsdtArg.signed(4, UsdtArg.Memory.of("rip", -8).withSymbol("sym")));
        assertThat(x86("8@0x10(%rbp)")).containsExactly(UsdtArg.unsigned(8, UsdtArg.Memory.of("rbp", 16)));
        assertThat(x86("8f@%rdx"))
                .containsExactly(
                        UsdtArg.unsigned(8, new UsdtArg.Register("rdx")).withFloat());
        assertThat(x86("4@( %rax , %rcx , 4 )"))
                .containsExactly(UsdtArg.unsigned(4, UsdtArg.Memory.of("rax", 0).withIndex("rcx", 4)));
        assertThat(x86("1@%ah")).containsExactly(UsdtArg.unsigned(1, new UsdtArg.Register("ah")));
    }

    @Test
    void aSymbolMeansItsAddressHoweverItIsWritten() {
        UsdtArg sym = UsdtArg.signed(4, UsdtArg.Memory.of("rip", 0).withSymbol("sym"));
        assertThat(x86("-4@sym(%rip)")).containsExactly(sym);
        assertThat(x86("-4@sym")).containsExactly(sym);
        assertThat(x86("4@tab(,%rdi,4)"))
                .containsExactly(UsdtArg.unsigned(
                        4, UsdtArg.Memory.of("rip", 0).withSymbol("tab").withIndex("rdi", 4)));
        assertThat(x86("4@8+tab(%rdi)"))
                .containsExactly(UsdtArg.unsigned(
                        4, UsdtArg.Memory.of("rip", 8).withSymbol("tab").withIndex("rdi", 1)));
        assertThat(UsdtArg.parse(Machine.I386, "4@tab@GOTOFF(%ebx,%edi,4)"))
                .containsExactly(UsdtArg.unsigned(
                        4, UsdtArg.Memory.of("eip", 0).withSymbol("tab").withIndex("edi", 4)));
    }

    @Test
    void constantsAreSignedAnd64BitsWide() {
        assertThat(x86("8@$-9223372036854775808 8@$18446744073709551615 1@$-1 4@$0xff 4@$-0X10 8@$010"))
                .containsExactly(
                        UsdtArg.unsigned(8, new UsdtArg.Constant(Long.MIN_VALUE)),
                        UsdtArg.unsigned(8, new UsdtArg.Constant(-1)),
                        UsdtArg.unsigned(1, new UsdtArg.Constant(-1)),
                        UsdtArg.unsigned(4, new UsdtArg.Constant(255)),
                        UsdtArg.unsigned(4, new UsdtArg.Constant(-16)),
                        UsdtArg.unsigned(8, new UsdtArg.Constant(8)));
    }

    @Test
    void aConstantIsReadInItsSizeHoweverItIsWritten() {
        assertThat(x86("-4@$4294967295 -4@$-1 4@$4294967295 4@$-1 -2@$65535 1@$-1 -1@$255 8@$-1 -8@$5"))
                .extracting(arg -> arg.cut(((UsdtArg.Constant) arg.operand()).value()))
                .containsExactly(-1L, -1L, 0xffff_ffffL, 0xffff_ffffL, -1L, 255L, -1L, -1L, 5L);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            8@(8+4)(%rbx)             ; 12
            8@8*4(%rbx)               ; 32
            8@8+(4-1)*2(%rbx)         ; 14
            8@1<<4(%rbx)              ; 16
            8@-16>>0(%rbx)            ; none
            8@256>>4(%rbx)            ; 16
            8@1+2|4(%rbx)             ; 7
            8@1+8&12(%rbx)            ; 9
            8@~7(%rbx)                ; -8
            8@-(-(4))(%rbx)           ; 4
            8@10/3(%rbx)              ; 3
            8@1/0(%rbx)               ; none
            8@1<<64(%rbx)             ; none
            8@1<<63(%rbx)             ; -9223372036854775808
            8@9223372036854775807*2(%rbx) ; -2
            8@9223372036854775807*3(%rbx) ; none
            8@18446744073709551615+1(%rbx) ; none
            8@-9223372036854775809(%rbx) ; none
            8@08(%rbx)                ; none
            8@1<2(%rbx)               ; none
            8@(1(%rbx)                ; none
            8@1)(%rbx)                ; none
            8@8+(%rbx)                ; none
            """)
    void sumsAreThoseOfTheAssembler(String text, String displacement) {
        if (displacement.equals("none")) {
            assertThat(x86(text)).singleElement().extracting(UsdtArg::operand).isInstanceOf(UsdtArg.Unsupported.class);
        } else {
            assertThat(x86(text))
                    .containsExactly(UsdtArg.unsigned(8, UsdtArg.Memory.of("rbx", Long.parseLong(displacement))));
        }
    }

    @Test
    void aSymbolMayStandAnywhereInASum() {
        UsdtArg sym = UsdtArg.unsigned(8, UsdtArg.Memory.of("rip", 12).withSymbol("sym"));
        for (String text :
                List.of("sym+12(%rip)", "8+sym+4(%rip)", "(sym+8)+4(%rip)", "3*4+sym(%rip)", "12--sym(%rip)")) {
            assertThat(x86("8@" + text)).as(text).containsExactly(sym);
        }
    }

    @Test
    void segmentsThatBeginAtZeroChangeNothing() {
        assertThat(x86("8@%ds:8(%rax) 4@%ss:(%rsp,%rcx,2)"))
                .containsExactly(
                        UsdtArg.unsigned(8, UsdtArg.Memory.of("rax", 8)),
                        UsdtArg.unsigned(4, UsdtArg.Memory.of("rsp", 0).withIndex("rcx", 2)));
    }

    @Test
    void theDeclaredSizeRulesWhateverTheRegisterIsCalled() {
        assertThat(x86("-8@%eax")).containsExactly(UsdtArg.signed(8, new UsdtArg.Register("rax")));
        assertThat(x86("1@%rax")).containsExactly(UsdtArg.unsigned(1, new UsdtArg.Register("rax")));
    }

    @Test
    void withoutASizeARegisterIsAsWideAsItsNameAndTheRestAWord() {
        assertThat(x86("%rdi %esi -20(%rbp) $5"))
                .containsExactly(
                        UsdtArg.unsigned(8, new UsdtArg.Register("rdi")),
                        UsdtArg.unsigned(4, new UsdtArg.Register("rsi")),
                        UsdtArg.unsigned(8, UsdtArg.Memory.of("rbp", -20)),
                        UsdtArg.unsigned(8, new UsdtArg.Constant(5)));
        assertThat(x86("-4@%edi %rsi"))
                .containsExactly(
                        UsdtArg.signed(4, new UsdtArg.Register("rdi")),
                        UsdtArg.unsigned(8, new UsdtArg.Register("rsi")));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            8f@%xmm0                  | vector
            16@%xmm0                  | 16 bytes
            10f@%st                   | 10 bytes
            3@%rax                    | 3 bytes
            0@%rax                    | 0 bytes
            99@%rax                   | 99 bytes
            2f@                       | no operand after the size
            16f@-32(%rbp)             | 16 bytes
            99999999999999999999@%rax | far too many bytes
            -4@%gs:0x10(%rax)         | thread-local
            -4@%fs:0                  | thread-local
            8@%ds:%ds:(%rax)          | not an operand
            8@%rax:%rdx               | not an operand
            8@%k1                     | mask
            8@%r16d                   | APX
            8@%r32                    | not an operand
            8@%cs                     | segment register
            8@foo@plt                 | linker
            8@foo@PLT(%rip)           | linker
            8@$foo@plt                | not known before
            8@foo@@VERSION(%rip)      | not an operand
            8@DWORD PTR [rbp-4]       | Intel
            8@[rbp-4]                 | Intel
            8@()                      | not an operand
            8@(,)                     | not an operand
            8@(,,1)                   | not an operand
            8@(%)                     | not an operand
            8@$                       | not a 64-bit constant
            8@$1.5                    | not a 64-bit constant
            8@$0x                     | not a 64-bit constant
            8@$1٣                     | not a 64-bit constant
            8@$-9223372036854775809   | not a 64-bit constant
            8@$18446744073709551616   | not a 64-bit constant
            8@%rax%rbx                | not an operand
            8@%rax,8@%rbx             | not an operand
            8@%EAX                    | not an operand
            +8@%rax                   | not an operand
            8F@%rax                   | not an operand
            -@%rax                    | not an operand
            -4@%fs:tls_v@tpoff        | thread-local
            8@f@GOTPCREL(%rip)        | linker
            8@$sym                    | not known before
            8@$99999999999999999999   | not a 64-bit constant
            8@(,%rax,4)               | no base
            4@0x1000                  | absolute
            8@sym(%rax,%rbx)          | two registers
            4@(%rax,%rbx,3)           | not an operand
            4@(%al)                   | not an operand
            2@%ah                     | does not fit
            4@                        | no operand
            4@%nope                   | not an operand
            4@-sym(%rip)              | subtracts
            8@a+b(%rip)               | not an operand
            """)
    void whatCannotBeReadHasAReasonAndKeepsItsText(String text, String reason) {
        assertThat(x86(text))
                .singleElement()
                .extracting(UsdtArg::operand)
                .isInstanceOfSatisfying(UsdtArg.Unsupported.class, u -> {
                    assertThat(u.reason()).contains(reason);
                    assertThat(u.raw()).isEqualTo(text);
                });
    }

    @Test
    void anUnreadableArgumentLeavesTheOthersTheirPlaces() {
        assertThat(x86("-4@%edi 8f@%xmm0 4@<garbage with blanks> 8@%rax"))
                .hasSize(4)
                .satisfies(args -> assertThat(args.get(3)).isEqualTo(UsdtArg.unsigned(8, new UsdtArg.Register("rax"))));
    }

    @Test
    void noArgumentsAreNoArguments() {
        assertThat(x86("")).isEmpty();
        assertThat(x86("  ")).isEmpty();
        assertThat(x86("\t\n")).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Machine.class)
    void aColonAtTheBeginningMeansNoArguments(Machine machine) {
        assertThat(UsdtArg.parse(machine, ":")).isEmpty();
        assertThat(UsdtArg.parse(machine, ":8@0")).isEmpty();
        List<UsdtArg> elsewhere = UsdtArg.parse(machine, " :");
        assertThat(elsewhere).singleElement().extracting(UsdtArg::operand).isInstanceOf(UsdtArg.Unsupported.class);
        assertThat(UsdtArg.parse(machine, UsdtArg.print(machine, elsewhere))).isEqualTo(elsewhere);
    }

    @Test
    void blanksMayStandAroundTheAtSignAndTheParts() {
        assertThat(x86("-4 @ %eax 8f\t@%rdi 8@ -20 ( %rbp )\t4@$ -9"))
                .containsExactly(
                        UsdtArg.signed(4, new UsdtArg.Register("rax")),
                        UsdtArg.unsigned(8, new UsdtArg.Register("rdi")).withFloat(),
                        UsdtArg.unsigned(8, UsdtArg.Memory.of("rbp", -20)),
                        UsdtArg.unsigned(4, new UsdtArg.Constant(-9)));
        assertThat(UsdtArg.parse(Machine.AARCH64, "-4 @ [x0,\tx1, lsl\t2]"))
                .containsExactly(UsdtArg.signed(4, UsdtArg.Memory.of("x0", 0).withIndex("x1", 4)));
        assertThat(x86("-4 @ nothing !"))
                .singleElement()
                .extracting(UsdtArg::operand)
                .isInstanceOfSatisfying(
                        UsdtArg.Unsupported.class, u -> assertThat(u.raw()).isEqualTo("-4@nothing !"));
    }

    /** EN SPACE, LINE SEPARATOR, file separator, vertical tab: blanks to Java, and characters of an operand here. */
    @ParameterizedTest
    @EnumSource(Machine.class)
    void onlyAsciiBlanksAreBlanks(Machine machine) {
        for (String text : List.of("\u2002", "\u2028", "\u001c", "\u000b")) {
            assertThat(UsdtArg.parse(machine, text))
                    .as(machine.machineName())
                    .singleElement()
                    .extracting(UsdtArg::operand)
                    .isInstanceOf(UsdtArg.Unsupported.class);
        }
        for (String text : List.of(
                "8@\u001c(%rbp)",
                "8@-20(\u001c%rbp)",
                "8@(\u001c)",
                "8@[sp,\u001c8]",
                "8@160(%r15\u001c)",
                "8@\u001c0(9)",
                "8@7,\u001c10",
                "8@$a7,\u001c8",
                "8@-20(\u001cs0)")) {
            assertThat(UsdtArg.parse(machine, text))
                    .as(text)
                    .singleElement()
                    .extracting(UsdtArg::operand)
                    .isInstanceOf(UsdtArg.Unsupported.class);
        }
    }

    /** RA 0 is the number 0 and RB 0 is register 0, so that this is the one way to say memory at r0. */
    @Test
    void register0AsTheIndexOfPpc64IsARegister() {
        List<UsdtArg> atR0 = UsdtArg.parse(Machine.PPC64LE, "8@0,0");
        assertThat(atR0).containsExactly(UsdtArg.unsigned(8, UsdtArg.Memory.of("r0", 0)));
        assertThat(UsdtArg.print(Machine.PPC64LE, atR0)).isEqualTo("8@0,r0");
        assertThat(UsdtArg.parse(Machine.PPC64LE, "8@0,r0")).isEqualTo(atR0);
    }

    @Test
    void theZeroRegisterIsNoBase() {
        assertThat(UsdtArg.parse(Machine.RISCV64, "8@16(x0) 8@16(zero)"))
                .allSatisfy(arg -> assertThat(((UsdtArg.Unsupported) arg.operand()).reason())
                        .contains("absolute address"));
    }

    @Test
    void anyBlankSeparatesAndSizesMayHaveLeadingZeros() {
        assertThat(x86("\t4@%eax\t 08@%rbx\n-0002@%cx\r"))
                .containsExactly(
                        UsdtArg.unsigned(4, new UsdtArg.Register("rax")),
                        UsdtArg.unsigned(8, new UsdtArg.Register("rbx")),
                        UsdtArg.signed(2, new UsdtArg.Register("rcx")));
    }

    @Test
    void aReasonQuotesLongTextInPart() {
        assertThat(x86("8@" + "x".repeat(10_000) + "!"))
                .singleElement()
                .extracting(UsdtArg::operand)
                .isInstanceOfSatisfying(
                        UsdtArg.Unsupported.class,
                        u -> assertThat(u.reason()).hasSizeLessThan(200).contains("(10001 characters)"));
    }

    @Test
    void tenThousandArgumentsAreAllRead() {
        String text = "8@%rax ".repeat(10_000);
        assertThat(x86(text)).hasSize(10_000);
    }

    @ParameterizedTest
    @EnumSource(Machine.class)
    void nothingWhateverEscapesAsAnException(Machine machine) {
        String alphabet = "0123456789-+@$%#,()[]: \tfxrsaidpbeo8.é_\0\n*!lsw";
        Random random = RunSeed.random();
        for (int round = 0; round < 20_000; round++) {
            StringBuilder text = new StringBuilder();
            int length = random.nextInt(40);
            for (int i = 0; i < length; i++) {
                text.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            List<UsdtArg> args = UsdtArg.parse(machine, text.toString());
            for (UsdtArg arg : args) {
                if (arg.operand() instanceof UsdtArg.Unsupported u) {
                    assertThat(u.reason()).isNotBlank();
                } else {
                    assertThat(UsdtArg.parse(machine, UsdtArg.print(machine, List.of(arg))))
                            .as("'%s' printed and parsed", text)
                            .containsExactly(arg);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "(", "%ds:", "8@%ds: ", "-(", "1+", "~", "9", "8@-4+(", " ", "8@ ", "-", "8@(", "%rax ", "8@%rax,", ",",
                " ,"
            })
    void longHostileTextsTakeLinearTime(String piece) {
        String text = IntStream.range(0, 200_000 / piece.length())
                .mapToObj(i -> piece)
                .reduce(new StringBuilder(), StringBuilder::append, StringBuilder::append)
                .toString();
        org.junit.jupiter.api.Assertions.assertTimeoutPreemptively(
                java.time.Duration.ofSeconds(60), () -> assertThat(x86(text)).isNotNull());
    }

    private static List<UsdtArg> x86(String text) {
        return UsdtArg.parse(Machine.X86_64, text);
    }
}
