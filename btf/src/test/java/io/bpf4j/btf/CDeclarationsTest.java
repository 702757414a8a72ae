package io.bpf4j.btf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.BtfType.Member;
import io.bpf4j.btf.BtfType.Parameter;
import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The text of C declarations. {@code CDeclarationsOnKernelTest} has a compiler judge it. */
class CDeclarationsTest {
    private final BtfBuilder types = BtfBuilder.create();
    private final int s32 = types.integer("int", 4, BtfType.Int.SIGNED);
    private final int u8 = types.integer("unsigned char", 1, 0);
    private final int u64 = types.integer("long long unsigned int", 8, 0);

    private Btf build() {
        return types.build("test", ByteOrder.LITTLE_ENDIAN);
    }

    private String written() {
        try {
            StringBuilder text = new StringBuilder();
            CDeclarations.of(build()).write(text);
            return text.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String declared(int id, String name) {
        return CDeclarations.of(build()).declaration(id, name);
    }

    @Test
    void aDeclarationIsBuiltAroundItsName() {
        int constInt = types.add(new BtfType.Const(s32));
        int constPointer = types.add(new BtfType.Const(types.pointer(constInt)));
        int function = types.add(new BtfType.FuncProto(
                s32, List.of(new Parameter("p", constPointer), new Parameter("", u64), new Parameter("", 0))));
        int handlers = types.array(types.pointer(function), s32, 4);
        int matrix = types.array(types.array(u8, s32, 3), s32, 2);

        assertThat(declared(constPointer, "p")).isEqualTo("const int *const p");
        assertThat(declared(constPointer, "")).isEqualTo("const int *const");
        assertThat(declared(handlers, "handlers"))
                .isEqualTo("int (*handlers[4])(const int *const p, long long unsigned int, ...)");
        assertThat(declared(matrix, "m")).isEqualTo("unsigned char m[2][3]");
        assertThat(declared(types.pointer(matrix), "m")).isEqualTo("unsigned char (*m)[2][3]");
        assertThat(declared(types.add(new BtfType.Const(types.add(new BtfType.Const(s32)))), "c"))
                .isEqualTo("const int c");
        assertThat(declared(types.add(new BtfType.Func("run", function, 1)), "run"))
                .isEqualTo("int run(const int *const p, long long unsigned int, ...)");
        assertThat(declared(types.pointer(types.add(new BtfType.TypeTag("user", s32, false))), "u"))
                .isEqualTo("__attribute__((btf_type_tag(\"user\"))) int *u");
        for (String attribute : List.of("aligned", "packed", "aligned(64)", "x)))) system(\"")) {
            assertThat(declared(types.pointer(types.add(new BtfType.TypeTag(attribute, s32, true))), "u"))
                    .as("what it does is not known")
                    .isEqualTo("int *u");
        }
        assertThat(declared(0, "")).isEqualTo("void");
    }

    @Test
    void cyclesThroughPointersAreDeclaredFirst() {
        int pair = types.nextId();
        types.struct("a", 8, Member.at("b", pair + 1, 0));
        types.pointer(pair + 2);
        types.struct("b", 8, Member.at("a", pair + 3, 0));
        types.pointer(pair);

        assertThat(written()).isEqualTo("""
                struct b;

                struct a {
                	struct b *b;
                };

                struct b {
                	struct a *a;
                };

                """);
    }

    @Test
    void whatAStructContainsComesBeforeIt() {
        int inner = types.nextId() + 2;
        types.struct("outer", 12, Member.at("number", inner - 1, 0), Member.at("inner", inner, 4));
        types.typedef("number_t", s32);
        types.struct("inner", 8, Member.at("x", s32, 0), Member.at("y", s32, 4));

        assertThat(written()).isEqualTo("""
                typedef int number_t;

                struct inner {
                	int x;
                	int y;
                };

                struct outer {
                	number_t number;
                	struct inner inner;
                };

                """);
    }

    @Test
    void anonymousTypesStandWhereTheyAreUsed() {
        int union = types.union("", 8, Member.at("number", u64, 0), Member.at("bytes", types.array(u8, s32, 8), 0));
        types.struct("s", 16, Member.at("", union, 0), Member.at("named", union, 8));

        assertThat(written()).isEqualTo("""
                struct s {
                	union {
                		long long unsigned int number;
                		unsigned char bytes[8];
                	};
                	union {
                		long long unsigned int number;
                		unsigned char bytes[8];
                	} named;
                };

                """);
    }

    @Test
    void gapsBetweenMembersArePadded() {
        types.struct("aligned", 64, Member.at("a", u8, 0), Member.at("b", s32, 8), Member.at("c", u64, 16));

        // 24 bits after a are the compiler's own; C needs a padding only for what is beyond them.
        assertThat(written()).isEqualTo("""
                struct aligned {
                	unsigned char a;
                	long: 56;
                	int b;
                	long long unsigned int c;
                	long: 64;
                	long: 64;
                	long: 64;
                	long: 64;
                	long: 64;
                };

                """);
    }

    @Test
    void aLargeGapIsAnArray() {
        types.struct("large", 1L << 31, Member.at("a", u8, 0), Member.at("b", u64, 1 << 20));

        assertThat(written())
                .contains("unsigned char __padding[1048575];")
                .contains("unsigned char __padding___2[" + ((1L << 31) - (1 << 20) - 8) + "];");
    }

    @Test
    void membersBesideTheirAlignmentMakeAStructPacked() {
        types.struct("packed", 9, Member.at("a", u8, 0), Member.at("b", u64, 1));
        types.struct("short_by_one", 5, Member.at("a", s32, 0), Member.at("b", u8, 4));

        assertThat(written()).isEqualTo("""
                struct packed {
                	unsigned char a;
                	long long unsigned int b;
                } __attribute__((packed));

                struct short_by_one {
                	int a;
                	unsigned char b;
                } __attribute__((packed));

                """);
    }

    @Test
    void bitFieldsAreWhereTheCompilerPutsThem() {
        types.struct(
                "bits",
                12,
                new Member("a", s32, 0, 3),
                new Member("b", s32, 5, 20),
                new Member("c", s32, 32, 31),
                Member.at("d", u8, 8));

        assertThat(written()).isEqualTo("""
                struct bits {
                	int a: 3;
                	long: 2;
                	int b: 20;
                	int c: 31;
                	unsigned char d;
                };

                """);
    }

    @Test
    void bitFieldsOfOldKernelsAreInTheirIntegers() {
        int bits = types.add(new BtfType.Int("unsigned int", 4, 0, 3, 5));
        types.struct("old", 4, new Member("a", bits, 0, 0));

        assertThat(written()).isEqualTo("""
                struct old {
                	long: 3;
                	unsigned int a: 5;
                };

                """);
    }

    @Test
    void whatCanNotBeInCIsBytes() {
        types.struct("overlapping", 8, Member.at("a", u64, 0), Member.at("b", s32, 4));

        assertThat(written())
                .startsWith("struct overlapping {\n\t/* C can't express")
                .contains("\tunsigned char __bytes[8];\n");
    }

    @Test
    void bitFieldsThatAreNoIntegersAreBytes() {
        int none = types.array(u8, u8, 0);
        types.struct("strange", 4, new Member("a", none, 0, 3));

        assertThat(written()).contains("\tunsigned char __bytes[4];\n");
    }

    @Test
    void aBitFieldThatIsWiderThanItsTypeMakesBytes() {
        types.struct("wide", 4, new Member("a", u8, 0, 9));
        types.struct("truth", 4, new Member("a", types.integer("_Bool", 1, BtfType.Int.BOOL), 0, 2));

        assertThat(written()).contains("struct wide {\n\t/* C can't", "struct truth {\n\t/* C can't");
    }

    @Test
    void numbersThatNoCompilerHasMakeBytes() {
        types.struct("number", 32, Member.at("a", types.integer("int256", 32, 0), 0));
        types.struct("odd", 6, Member.at("a", types.array(types.integer("int24", 3, 0), s32, 2), 0));
        types.struct("real", 3, Member.at("a", types.add(new BtfType.FloatingPoint("real", 3)), 0));

        assertThat(written())
                .contains("unsigned char __bytes[32];", "unsigned char __bytes[6];", "unsigned char __bytes[3];");
    }

    /** Random bytes of a file are changed; a member may then have any type, size and offset. */
    @Test
    void aDamagedFileIsWrittenOrMalformed() throws IOException {
        int numbers = types.array(s32, u64, 5);
        int inner = types.struct("inner", 24, Member.at("numbers", numbers, 0), new Member("bits", s32, 160, 7));
        types.union("either", 24, Member.at("inner", inner, 0), Member.at("pointer", types.pointer(inner), 0));
        types.struct("outer", 32, Member.at("inner", inner, 0), new Member("flag", u8, 192, 1));
        types.typedef("name", inner);
        byte[] whole = types.toBytes(ByteOrder.LITTLE_ENDIAN);
        Random random = new Random(7);
        int written = 0;
        for (int round = 0; round < 20_000; round++) {
            byte[] damaged = whole.clone();
            for (int change = random.nextInt(4); change >= 0; change--) {
                damaged[random.nextInt(damaged.length)] =
                        (byte) (random.nextBoolean() ? random.nextInt(8) : random.nextInt());
            }
            try {
                StringBuilder out = new StringBuilder();
                CDeclarations.of(Btf.parse(ByteView.of("damaged", damaged, ByteOrder.LITTLE_ENDIAN)))
                        .write(out);
                written++;
            } catch (MalformedDataException e) {
                assertThat(e).hasMessageContaining("damaged");
            }
        }
        assertThat(written).isGreaterThan(1000);
    }

    @Test
    void enumerationsKeepSizeAndValues() {
        types.add(new BtfType.Enum32("small", 1, false, List.of(new BtfType.EnumValue("A", 255))));
        types.add(new BtfType.Enum32("", 4, true, List.of(new BtfType.EnumValue("MINUS", -1))));
        types.add(new BtfType.Enum64("wide", 8, false, List.of(new BtfType.EnumValue("TOP", -1))));
        types.add(new BtfType.Enum64("low", 8, true, List.of(new BtfType.EnumValue("LEAST", Long.MIN_VALUE))));
        types.add(new BtfType.Enum32("unknown", 4, false, List.of()));

        assertThat(written()).isEqualTo("""
                enum small {
                	A = 255,
                } __attribute__((mode(QI)));

                enum {
                	MINUS = -1,
                };

                enum wide {
                	TOP = 18446744073709551615ULL,
                };

                enum low {
                	LEAST = -9223372036854775807LL - 1,
                };

                enum unknown {
                	__no_values,
                };

                """);
    }

    @Test
    void aSecondTypeOfTheSameNameGetsASuffix() {
        types.struct("page", 4, Member.at("a", s32, 0));
        types.struct("page", 8, Member.at("a", u64, 0));
        types.typedef("page", s32); // typedefs have names of their own
        types.add(new BtfType.Enum32("", 4, false, List.of(new BtfType.EnumValue("page", 1))));

        assertThat(written()).contains("struct page {", "struct page___2 {", "typedef int page;", "\tpage___2 = 1,");
    }

    @Test
    void aForwardDeclarationIsOfTheStructThatIsThere() {
        int forward = types.add(new BtfType.Fwd("later", false));
        types.struct("first", 8, Member.at("p", types.pointer(forward), 0));
        types.struct("later", 4, Member.at("x", s32, 0));

        assertThat(written()).startsWith("struct later;\n\nstruct first {").contains("struct later {");
    }

    @Test
    void noNameBecomesCode() {
        types.struct("a{}; int x", 4, Member.at("b;\n#include <x>", s32, 0), Member.at("int", s32, 0));
        types.typedef("Option<u8>", types.integer("u8\nint y;", 1, 0));
        types.add(new BtfType.Enum32("e", 4, false, List.of(new BtfType.EnumValue("\"*/1", 1))));

        assertThat(written())
                .doesNotContain("#", "\"", "<", "int x", "int y")
                .contains("typedef unsigned char Option_u8_;");
    }

    /** Words that gcc and clang take for their own in each version of C. */
    @Test
    void wordsOfTheCompilerGetAnUnderscore() {
        for (String word : List.of(
                "_Bool",
                "__int128",
                "__attribute__",
                "__asm__",
                "__typeof__",
                "__inline",
                "_Static_assert",
                "_Float16")) {
            assertThat(declared(s32, word)).isEqualTo("int " + word + "_");
        }
    }

    @Test
    void integersOfOtherLanguagesAreNamedBySize() {
        assertThat(declared(types.integer("usize", 8, 0), "n")).isEqualTo("unsigned long long n");
        assertThat(declared(types.integer("i16", 2, BtfType.Int.SIGNED), "n")).isEqualTo("short n");
        assertThat(declared(types.integer("bool", 1, BtfType.Int.BOOL), "n")).isEqualTo("_Bool n");
        assertThat(declared(types.integer("long int", 4, BtfType.Int.SIGNED), "n"))
                .isEqualTo("int n");
    }

    @Test
    void aTypeThatContainsItselfIsMalformed() {
        int id = types.nextId();
        types.struct("snake", 8, Member.at("self", id, 0));

        assertThatThrownBy(this::written)
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("type " + id + ", STRUCT snake, contains itself");
    }

    @Test
    void aTypedefOfItselfIsMalformed() {
        int id = types.nextId();
        types.typedef("loop", id + 1);
        types.pointer(id);

        assertThatThrownBy(this::written)
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("loop");
    }

    @Test
    void pointersThatLeadBackToThemselvesEnd() {
        int id = types.nextId();
        types.pointer(id);

        assertThatThrownBy(() -> declared(id, "p"))
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("is a chain of too many types");
    }

    @Test
    void aSmallFileDoesNotBecomeAnEndlessText() {
        int id = types.struct("", 1, Member.at("x", u8, 0));
        for (int i = 0; i < 28; i++) {
            id = types.union("", 1, Member.at("a", id, 0), Member.at("b", id, 0));
        }
        types.struct("bomb", 1, Member.at("x", id, 0));

        assertThatThrownBy(this::written)
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("more than 16 times as large");
    }

    private String header() {
        try {
            StringBuilder text = new StringBuilder();
            CDeclarations.of(build()).header("GUARD", text);
            return text.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private int function(String name, int result, Parameter... parameters) {
        int proto = types.add(new BtfType.FuncProto(result, List.of(parameters)));
        return types.add(new BtfType.Func(name, proto, BtfType.Linkage.STATIC));
    }

    @Test
    void functionsThatProgramsMayCallHavePrototypes() {
        int task = types.add(new BtfType.Fwd("task", false));
        int later = function("later", types.pointer(task), new Parameter("pid", s32));
        int early = function("early", 0, new Parameter("task", types.pointer(task)), new Parameter("", 0));
        function("untagged", 0);
        types.add(new BtfType.DeclTag("bpf_kfunc", later, -1, false));
        types.add(new BtfType.DeclTag("bpf_kfunc", early, -1, false));
        types.add(new BtfType.DeclTag("bpf_fastcall", early, -1, false));

        assertThat(header()).endsWith("""
                struct task;

                #ifndef BPF_NO_KFUNC_PROTOTYPES
                #ifndef __ksym
                #define __ksym __attribute__((section(".ksyms")))
                #endif
                #ifndef __weak
                #define __weak __attribute__((weak))
                #endif
                #ifndef __bpf_fastcall
                #if __has_attribute(bpf_fastcall)
                #define __bpf_fastcall __attribute__((bpf_fastcall))
                #else
                #define __bpf_fastcall
                #endif
                #endif
                extern __bpf_fastcall void early(struct task *task, ...) __weak __ksym;
                extern struct task *later(int pid) __weak __ksym;
                #endif

                #ifndef BPF_NO_PRESERVE_ACCESS_INDEX
                #pragma clang attribute pop
                #endif

                #endif /* GUARD */
                """);
        assertThat(written()).as("types alone").doesNotContain("early");
    }

    @Test
    void aTagOfSomethingElseMakesNoPrototype() {
        int function = function("function", 0, new Parameter("p", s32));
        int struct = types.struct("s", 4, Member.at("x", s32, 0));
        types.add(new BtfType.DeclTag("bpf_kfunc", function, 0, false)); // of the parameter
        types.add(new BtfType.DeclTag("bpf_kfunc", struct, -1, false));
        types.add(new BtfType.DeclTag("bpf_kfuncs", function, -1, false));
        types.add(new BtfType.DeclTag("bpf_kfunc", function("x; int y", 0), -1, false));
        types.add(new BtfType.DeclTag("bpf_kfunc", function("while", 0), -1, false));

        assertThat(header()).doesNotContain("extern", "__ksym", "int y");
    }

    /** The kernel has one function of a name for each file that defines it. */
    @Test
    void aNameHasOnePrototype() {
        types.add(new BtfType.DeclTag("bpf_kfunc", function("twice", 0), -1, false));
        types.add(new BtfType.DeclTag("bpf_kfunc", function("twice", s32), -1, false));

        assertThat(header()).containsOnlyOnce("twice").contains("extern void twice(void) __weak __ksym;");
    }

    @Test
    void aDeepChainOfStructsNeedsNoDeepStack() {
        int id = types.struct("s0", 4, Member.at("x", s32, 0));
        int first = types.nextId();
        int count = 20_000;
        // Each contains the next, so that the first needs all others.
        for (int i = 1; i <= count; i++) {
            types.struct("s" + i, 4, Member.at("x", i == count ? id : first + i, 0));
        }

        assertThat(written()).contains("struct s" + count + " {").endsWith("struct s1 {\n\tstruct s2 x;\n};\n\n");
    }
}
