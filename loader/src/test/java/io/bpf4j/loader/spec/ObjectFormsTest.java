package io.bpf4j.loader.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Instructions;
import io.bpf4j.loader.error.InvalidObjectException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What else an object file may say or leave out: license, version, externs; and references that lead nowhere. */
class ObjectFormsTest {
    private static final Instruction EXIT = new Instruction(0x95, 0, 0, 0, 0);

    private final TestObject object = new TestObject();

    /** r1 = imm ll; exit, with a relocation of the load. */
    private void loads(int imm, int symbol) {
        int section = object.program(
                "socket", "main", new Instruction(0x18, 1, 0, 0, imm), new Instruction(0, 0, 0, 0, 0), EXIT);
        object.relocation(section, 0, symbol);
    }

    /** call imm; exit, with a relocation of the call. */
    private void calls(int imm, int symbol) {
        int section = object.program("socket", "main", new Instruction(0x85, 0, 1, 0, imm), EXIT);
        object.relocation(section, 0, symbol);
    }

    private List<CodeReference> references() {
        return object.parse().program("main").function().references();
    }

    private void refused(String reason) {
        assertThatThrownBy(object::parse)
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("\"main\"")
                .hasMessageContaining(reason);
    }

    // License and version

    @Test
    void withoutALicenseItIsEmpty() {
        object.program("socket", "main", EXIT);
        assertThat(object.parse().license()).isEmpty();
        assertThat(object.parse().version()).isZero();
    }

    @Test
    void aLicenseEndsAtItsZeroOrItsSection() {
        object.data("license", new byte[] {'G', 'P', 'L'});
        assertThat(object.parse().license()).isEqualTo("GPL");
        TestObject other = new TestObject();
        other.data("license", "Dual MIT/GPL\0rest".getBytes(StandardCharsets.US_ASCII));
        assertThat(other.parse().license()).isEqualTo("Dual MIT/GPL");
    }

    @Test
    void aVersionHasFourBytes() {
        object.data("version", new byte[] {7, 19, 4, 0});
        assertThat(object.parse().version()).isEqualTo(4 << 16 | 19 << 8 | 7);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3, 8})
    void anotherVersionIsMalformed(int size) {
        object.data("version", new byte[size]);
        assertThatThrownBy(object::parse)
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("version");
    }

    // Functions

    @Test
    void aStaticFunctionIsNoProgramAndMayStandInTextOnly() {
        int code = object.program("socket", "main", EXIT);
        object.symbol("helper", code, 0, 8, Symbol.STT_FUNC, Symbol.STB_LOCAL, 0);
        assertThatThrownBy(object::parse)
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("function \"helper\" in SEC(\"socket\") is static");

        TestObject plain = new TestObject();
        int text = plain.section(".text", Section.SHT_PROGBITS, 6, new byte[] {(byte) 0x95, 0, 0, 0, 0, 0, 0, 0});
        plain.symbol("helper", text, 0, 8, Symbol.STT_FUNC, Symbol.STB_LOCAL, 0);
        assertThat(plain.parse().functions()).hasSize(1);
        assertThat(plain.parse().programs()).isEmpty();
    }

    /** A linker drops the symbol of a weak function that another object overrides, and leaves the rest of it. */
    @ParameterizedTest
    @ValueSource(strings = {".text", "socket"})
    void codeThatIsInNoFunctionIsNotRead(String name) {
        int hash = object.map("hash", object.number("type", 1));
        int code = withAGap(name);
        object.relocation(code, 8, hash);
        object.relocation(code, 32, hash);
        ObjectSpec spec = object.parse();
        assertThat(spec.functions()).extracting(FunctionSpec::name).containsExactly("before", "behind");
        assertThat(spec.functions().getFirst().references()).isEmpty();
        assertThat(spec.functions().getLast().references()).containsExactly(new CodeReference.ToMap(0, "hash"));
    }

    @ParameterizedTest
    @ValueSource(ints = {-8, 12, 56})
    void aRelocationOfWhatIsNoInstructionIsMalformedInAnyCode(int place) {
        int hash = object.map("hash", object.number("type", 1));
        object.relocation(withAGap(".text"), place, hash);
        assertThatThrownBy(object::parse)
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("not an instruction");
    }

    @Test
    void aRelocationWithoutASymbolIsMalformedInAnyCode() {
        object.relocation(withAGap(".text"), 8, 1000);
        assertThatThrownBy(object::parse)
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("symbol 1000");
    }

    /** {@code extern typeof(one) two __attribute__((alias("one")))}. */
    @ParameterizedTest
    @ValueSource(strings = {".text", "socket"})
    void anAliasIsAFunctionWithTheSameCodeAndReferences(String name) {
        int hash = object.map("hash", object.number("type", 1));
        int code = object.program(name, "one", new Instruction(0x18, 1, 0, 0, 0), new Instruction(0, 0, 0, 0, 0), EXIT);
        object.symbol("two", code, 0, 24, Symbol.STT_FUNC, Symbol.STB_WEAK, Symbol.STV_HIDDEN);
        object.relocation(code, 0, hash);
        ObjectSpec spec = object.parse();
        assertThat(spec.functions()).extracting(FunctionSpec::name).containsExactly("one", "two");
        assertThat(spec.functions()).extracting(FunctionSpec::hidden).containsExactly(false, true);
        assertThat(spec.functions()).allSatisfy(function -> {
            assertThat(function.slot()).isZero();
            assertThat(function.size()).isEqualTo(3);
            assertThat(function.references()).containsExactly(new CodeReference.ToMap(0, "hash"));
        });
        assertThat(spec.programs()).hasSize(name.equals(".text") ? 0 : 2);
    }

    /** At the same start, in the middle, and over the end of a function of two instructions. */
    @ParameterizedTest
    @CsvSource({"0, 8", "0, 24", "8, 8", "8, 16"})
    void functionsThatOverlapInPartAreMalformed(int start, int size) {
        int code = object.section(
                "socket",
                Section.SHT_PROGBITS,
                Section.SHF_ALLOC | 4,
                Instructions.encode(List.of(EXIT, EXIT, EXIT), ByteOrder.LITTLE_ENDIAN));
        object.symbol("one", code, 0, 16, Symbol.STT_FUNC, Symbol.STB_GLOBAL, Symbol.STV_DEFAULT);
        object.symbol("two", code, start, size, Symbol.STT_FUNC, Symbol.STB_GLOBAL, Symbol.STV_DEFAULT);
        assertThatThrownBy(object::parse)
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("overlaps the one before it");
    }

    @Test
    void twoProgramsOfOneNameAreNoAliases() {
        int code = object.program("socket", "one", EXIT);
        object.symbol("one", code, 0, 8, Symbol.STT_FUNC, Symbol.STB_GLOBAL, Symbol.STV_DEFAULT);
        assertThatThrownBy(object::parse).hasMessageContaining("two programs are named \"one\"");
    }

    /** The functions "before" and "behind", and between them three slots that are in no function. */
    private int withAGap(String section) {
        Instruction load = new Instruction(0x18, 1, 0, 0, 0);
        Instruction half = new Instruction(0, 0, 0, 0, 0);
        Instruction[] all = {EXIT, load, half, EXIT, load, half, EXIT};
        int code = object.section(
                section,
                Section.SHT_PROGBITS,
                Section.SHF_ALLOC | 4,
                Instructions.encode(List.of(all), ByteOrder.LITTLE_ENDIAN));
        object.symbol("before", code, 0, 8, Symbol.STT_FUNC, Symbol.STB_GLOBAL, 0);
        object.symbol("behind", code, 32, 24, Symbol.STT_FUNC, Symbol.STB_GLOBAL, 0);
        return code;
    }

    @Test
    void theOptionThatGivesEachFunctionASectionIsNamed() {
        int code = object.section(
                ".text.callback",
                Section.SHT_PROGBITS,
                Section.SHF_ALLOC | 4,
                Instructions.encode(List.of(EXIT), ByteOrder.LITTLE_ENDIAN));
        object.symbol("callback", code, 0, 8, Symbol.STT_FUNC, Symbol.STB_LOCAL, 0);
        assertThatThrownBy(object::parse)
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("\"callback\"")
                .hasMessageContaining("-ffunction-sections");
    }

    // References

    @Test
    void aFunctionBeginsAtAnInstruction() {
        object.program(".text", "helper", EXIT, EXIT);
        int inside = object.symbol("inside", 1, 8, 8, Symbol.STT_NOTYPE, Symbol.STB_GLOBAL, 0);
        calls(-1, inside);
        assertThat(references()).containsExactly(new CodeReference.ToFunction(0, 1, 1));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 15})
    void aCallIntoAnInstructionIsRefused(int value) {
        object.program(".text", "helper", EXIT, EXIT);
        calls(-1, object.symbol("inside", 1, value, 8, Symbol.STT_NOTYPE, Symbol.STB_GLOBAL, 0));
        refused("inside an instruction");
    }

    @Test
    void anAddressOfAFunctionIsThatOfAnInstruction() {
        object.program(".text", "helper", EXIT, EXIT);
        int section = object.symbol("", 1, 0, 0, Symbol.STT_SECTION, Symbol.STB_LOCAL, 0);
        loads(8, section);
        assertThat(references()).containsExactly(new CodeReference.ToFunction(0, 1, 1));
    }

    @Test
    void anAddressInsideAnInstructionIsRefused() {
        object.program(".text", "helper", EXIT, EXIT);
        loads(12, object.symbol("", 1, 0, 0, Symbol.STT_SECTION, Symbol.STB_LOCAL, 0));
        refused("inside an instruction");
    }

    @Test
    void globalDataIsReferredToByteByByte() {
        object.data(".data", new byte[8]);
        loads(3, object.symbol("", 1, 0, 0, Symbol.STT_SECTION, Symbol.STB_LOCAL, 0));
        assertThat(references()).containsExactly(new CodeReference.ToData(0, ".data", 3));
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 9, Integer.MIN_VALUE})
    void whatIsBesideGlobalDataIsRefused(int offset) {
        object.data(".data", new byte[8]);
        loads(offset, object.symbol("", 1, 0, 0, Symbol.STT_SECTION, Symbol.STB_LOCAL, 0));
        refused("byte " + offset);
    }

    @Test
    void aVariableWithTheNameOfAMapIsNoMap() {
        object.map("hash", object.number("type", 1));
        int elsewhere = object.section("mine", Section.SHT_PROGBITS, Section.SHF_ALLOC, new byte[8]);
        loads(0, object.symbol("hash", elsewhere, 0, 8, Symbol.STT_OBJECT, Symbol.STB_LOCAL, 0));
        refused("neither a map nor");
    }

    @Test
    void aMapIsReferredToByItsSymbol() {
        loads(0, object.map("hash", object.number("type", 1)));
        assertThat(references()).containsExactly(new CodeReference.ToMap(0, "hash"));
    }

    @Test
    void theOptionThatPutsAVariableInNoSectionIsNamed() {
        loads(0, object.symbol("common", 0xfff2, 8, 8, Symbol.STT_OBJECT, Symbol.STB_GLOBAL, 0));
        refused("compile the object with -fno-common");
    }

    // Externs

    @Test
    void anExternThatBtfDoesNotKnow() {
        loads(0, object.symbol("unknown", 0, 0, 0, Symbol.STT_NOTYPE, Symbol.STB_WEAK, 0));
        refused("its BTF does not declare");
    }

    @Test
    void aFunctionThatIsNowhereIsRefusedWeakOrNot() {
        calls(-1, object.symbol("unknown", 0, 0, 0, Symbol.STT_NOTYPE, Symbol.STB_WEAK, 0));
        refused("neither defined in this object nor declared in its BTF");
    }

    @Test
    void kconfigExternsAreLaidOutWidestFirst() {
        int character = object.types.integer("char", 1, 0);
        int wide = object.types.integer("long", 8, 1);
        object.extern(".kconfig", "CONFIG_FLAG", object.types.integer("_Bool", 1, 4), true);
        object.extern(".kconfig", "CONFIG_TEXT", object.types.array(character, object.integer, 16), true);
        object.extern(".kconfig", "CONFIG_B", object.integer, false);
        object.extern(".kconfig", "CONFIG_A", object.integer, false);
        object.extern(".kconfig", "CONFIG_WIDE", wide, true);
        ObjectSpec spec = object.parse();
        assertThat(spec.externs().stream().map(e -> e.name() + " " + e.offset() + " " + e.size()))
                .containsExactly(
                        "CONFIG_WIDE 0 8", "CONFIG_A 8 4", "CONFIG_B 12 4", "CONFIG_FLAG 16 1", "CONFIG_TEXT 17 16");
        MapSpec map = spec.map(DataSection.KCONFIG);
        assertThat(map.valueSize()).isEqualTo(33);
        assertThat(map.flags()).isEqualTo(MapSpec.F_MMAPABLE | MapSpec.F_RDONLY_PROG);
    }

    /** Many symbols of one variable would make the map as large as they are many. */
    @Test
    void anExternHasOneSymbol() {
        object.extern(".kconfig", "CONFIG_X", object.integer, true);
        object.extern(".kconfig", "CONFIG_X", object.integer, true);
        assertThatThrownBy(object::parse)
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("extern \"CONFIG_X\" has two symbols");
    }

    @Test
    void aKconfigExternIsOfATypeThatAnOptionFits() {
        object.extern(".kconfig", "CONFIG_X", object.types.pointer(object.integer), true);
        assertThatThrownBy(object::parse)
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("CONFIG_X")
                .hasMessageContaining("tristate");
    }

    @Test
    void aKconfigExternIsCalledConfigOrLinux() {
        object.extern(".kconfig", "HZ", object.integer, true);
        assertThatThrownBy(object::parse)
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("\"HZ\"");
    }
}
