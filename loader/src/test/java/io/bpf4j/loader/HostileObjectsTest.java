package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfExt;
import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.BtfType.Member;
import io.bpf4j.core.CoreException;
import io.bpf4j.core.CoreRelocationKind;
import io.bpf4j.core.CoreRelocator;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Instructions;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.insn.PseudoSource;
import io.bpf4j.loader.dryrun.Fit;
import io.bpf4j.loader.error.BpfException;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.internal.sys.ScriptedKernel;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.TestObject;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Objects that somebody made to break a loader: types that lead back to themselves, tables of a hundred thousand entries,
 * small files that say much. Each is read, loaded into a kernel that says yes to everything, and tried against a kernel's
 * types: whatever comes of it comes soon, and as an exception of the loader's own.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostileObjectsTest {
    private static final int MANY = 60_000;

    /** Most that a type has of members: 16 bits. */
    private static final int MEMBERS = 65_000;

    private static final int EXEC = 4;
    private static final Instruction EXIT = new Instruction(Opcodes.JMP | Opcodes.EXIT, 0, 0, 0, 0);
    private static final Instruction CALL = new Instruction(Opcodes.JMP | Opcodes.CALL, 0, PseudoSource.CALL, 0, -1);
    private static final Instruction MOV = new Instruction(Opcodes.ALU64 | Opcodes.MOV, 0, 0, 0, 0);
    private static final Instruction LOAD = new Instruction(Opcodes.LD_IMM64, 1, 0, 0, 0);
    private static final Instruction LOAD_2 = new Instruction(0, 0, 0, 0, 0);

    private static final Features OLD = Features.of(feature -> switch (feature) {
        case GLOBAL_DATA, BTF, BTF_FUNC, BTF_DATASEC -> Support.yes("scripted");
        default -> Support.no("scripted");
    });

    private final TestObject object = new TestObject();
    private final BtfBuilder types = object.types;
    private final Relocations relocations = new Relocations();

    /** CO-RE relocations of one section. */
    private final class Relocations {
        private final List<int[]> records = new ArrayList<>();

        void add(int slot, int type, String access, int kind) {
            records.add(new int[] {slot * 8, type, types.string(access), kind});
        }

        byte[] ext(String... sections) {
            int table = 4 + sections.length * (8 + records.size() * 16);
            ByteBuffer ext = ByteBuffer.allocate(32 + table).order(ByteOrder.LITTLE_ENDIAN);
            ext.putShort((short) 0xeb9f).put((byte) 1).put((byte) 0).putInt(32);
            ext.putInt(0).putInt(0).putInt(0).putInt(0).putInt(0).putInt(table).putInt(16);
            for (String section : sections) {
                ext.putInt(types.string(section)).putInt(records.size());
                for (int[] record : records) {
                    for (int word : record) {
                        ext.putInt(word);
                    }
                }
            }
            return ext.array();
        }
    }

    /** What became of an object with a kernel that has every feature. */
    private enum Outcome {
        UNREADABLE,
        REFUSED,
        LOADED
    }

    private Outcome outcome() {
        return outcome(object.bytes());
    }

    private Outcome outcome(byte[] bytes) {
        ObjectSpec spec;
        try {
            spec = ObjectSpec.parse("test.o", bytes);
        } catch (MalformedDataException | InvalidObjectException e) {
            assertThat(e.getMessage()).contains("test.o").hasSizeLessThan(10_000);
            return Outcome.UNREADABLE;
        }
        // Its own types are a kernel that has all that it asks for.
        spec.btf().ifPresent(types -> tried(spec, types));
        loaded(spec, OLD);
        return loaded(spec, ScriptedLoads.everything());
    }

    private static void tried(ObjectSpec spec, Btf kernel) {
        try {
            Fit fit = DryRun.of(spec, kernel);
            fit.programs()
                    .forEach(program -> assertThat(program.findings())
                            .allSatisfy(f -> assertThat(f.toString()).hasSizeLessThan(10_000)));
        } catch (MalformedDataException | BpfException e) {
            assertThat(e.getMessage()).isNotBlank().hasSizeLessThan(10_000);
        }
    }

    private static Outcome loaded(ObjectSpec spec, Features features) {
        ScriptedKernel kernel = new ScriptedKernel();
        try (BpfObject loaded =
                ScriptedLoads.loader(kernel, spec).features(features).load()) {
            assertThat(loaded.spec()).isNotNull();
            return Outcome.LOADED;
        } catch (MalformedDataException | BpfException e) {
            assertThat(e.getMessage()).isNotBlank().hasSizeLessThan(10_000);
            return Outcome.REFUSED;
        } finally {
            assertThat(kernel.open()).isEmpty();
            assertThat(kernel.mappings()).isZero();
        }
    }

    /** A program of an instruction for each relocation. */
    private void relocated() {
        Instruction[] code = new Instruction[relocations.records.size() + 1];
        Arrays.fill(code, MOV);
        code[code.length - 1] = EXIT;
        object.program("socket", "prog", code);
        object.section(".BTF.ext", Section.SHT_PROGBITS, 0, relocations.ext("socket"));
    }

    /** Every question about each type, to the same types as a target. */
    private void askEach(int... roots) {
        String[] accesses = {"0", "0:0", "0:0:0:0:0:0", "7:0"};
        Arrays.stream(accesses).forEach(types::string);
        Btf btf = types.build("test.o", ByteOrder.LITTLE_ENDIAN);
        for (int root : roots) {
            for (CoreRelocationKind kind : CoreRelocationKind.values()) {
                for (String access : accesses) {
                    CoreRelocator relocator = new CoreRelocator(btf, CoreTarget.of(btf));
                    try {
                        relocator.relocate(
                                new BtfExt.CoreRelocation(0, root, types.string(access), kind.number()),
                                List.of(MOV, EXIT),
                                0);
                    } catch (CoreException | MalformedDataException e) {
                        assertThat(e.getMessage()).isNotBlank();
                    }
                }
            }
        }
    }

    @Test
    void typesThatLeadBackToThemselves() {
        int a = types.nextId();
        int[] roots = new int[12];
        roots[0] = types.add(new BtfType.Typedef("a", a + 1));
        roots[1] = types.add(new BtfType.Const(a));
        roots[2] = types.add(new BtfType.Array(a + 2, object.integer, 3));
        roots[3] = types.struct("self", 8, Member.at("me", a + 3, 0));
        roots[4] = types.struct("byArray", 8, Member.at("", a + 5, 0));
        roots[5] = types.array(a + 4, object.integer, 2);
        roots[6] = types.add(new BtfType.Ptr(a + 6));
        roots[7] = types.add(new BtfType.FuncProto(a + 7, List.of(new BtfType.Parameter("x", a + 7))));
        roots[8] = types.add(new BtfType.Typedef("proto", a + 9));
        roots[9] = types.add(new BtfType.FuncProto(
                a + 8, List.of(new BtfType.Parameter("x", a + 8), new BtfType.Parameter("y", a + 8))));
        roots[10] =
                types.struct("anon", 8, Member.at("", a + 10, 0), Member.at("", a + 10, 0), Member.at("", a + 4, 0));
        roots[11] = types.add(new BtfType.Func("f", a + 11, 1));
        askEach(roots);
        for (int root : roots) {
            copy().global(root);
            copy().asMap(root);
            copy().asNumberOfMap(root);
            copy().option(root);
            copy().structOfFunctions(root);
        }
    }

    private HostileObjectsTest copy() {
        HostileObjectsTest copy = new HostileObjectsTest();
        for (int id = copy.types.nextId(); id < types.nextId(); id++) {
            copy.types.add(types.type(id));
        }
        return copy;
    }

    private void global(int type) {
        object.data(".data", new byte[64]);
        object.variable(".data", "global", type, 0, 8, BtfType.Linkage.GLOBAL, Symbol.STV_DEFAULT);
        object.extern(".ksyms", "symbol", type, true);
        outcome();
    }

    private void asMap(int type) {
        object.map(
                "map",
                object.number("type", 1),
                object.type("key", object.integer),
                object.type("value", type),
                object.number("max_entries", 1));
        outcome();
    }

    private void asNumberOfMap(int type) {
        object.map("map", TestObject.member("type", type));
        assertThat(outcome()).isEqualTo(Outcome.UNREADABLE);
    }

    private void option(int type) {
        object.extern(".kconfig", "CONFIG_X", type, true);
        assertThat(outcome()).isEqualTo(Outcome.UNREADABLE);
    }

    private void structOfFunctions(int type) {
        object.data(".struct_ops.link", new byte[64]);
        object.variable(".struct_ops.link", "ops", type, 0, 8, BtfType.Linkage.GLOBAL, Symbol.STV_DEFAULT);
        outcome();
    }

    @Test
    void typesThatNestDeep() {
        int inner = object.integer;
        for (int i = 0; i < 10_000; i++) {
            inner = types.struct(i % 2 == 0 ? "" : "level" + i, 4, Member.at(i % 2 == 1 ? "" : "m" + i, inner, 0));
        }
        int named = types.struct("deep", 4, Member.at("", inner, 0));
        int chain = object.integer;
        for (int i = 0; i < MANY; i++) {
            chain = i % 3 == 0
                    ? types.add(new BtfType.Const(chain))
                    : i % 3 == 1
                            ? types.add(new BtfType.Typedef("t" + i, chain))
                            : types.add(new BtfType.Volatile(chain));
        }
        int pointers = object.integer;
        for (int i = 0; i < MANY; i++) {
            pointers = types.pointer(pointers);
        }
        int td = types.typedef("pointers", pointers);
        int td2 = types.typedef("chain", chain);
        int st = types.struct("holder", 8, Member.at("m", chain, 0));
        askEach(named, inner, td, td2, st);
        object.data(".data", new byte[64]);
        object.variable(".data", "global", chain, 0, 8, BtfType.Linkage.GLOBAL, 0);
        object.variable(".data", "global2", td, 8, 8, BtfType.Linkage.GLOBAL, 0);
        object.variable(".data", "global3", named, 16, 8, BtfType.Linkage.GLOBAL, 0);
        assertThat(outcome()).isEqualTo(Outcome.LOADED);
    }

    @Test
    void anonymousMembersThatMatchOnlyTheLast() {
        BtfBuilder kernel = BtfBuilder.create();
        Member[] theirs = new Member[MEMBERS];
        Member[] ours = new Member[MEMBERS];
        for (int i = 0; i < MEMBERS; i++) {
            theirs[i] = Member.at("", kernel.integer("i" + i, 4, 0), 0);
            ours[i] = Member.at("", types.struct("i" + (MEMBERS - 1), 4), 0);
        }
        theirs[MEMBERS - 1] = Member.at("", kernel.struct("i" + (MEMBERS - 1), 4), 0);
        kernel.struct("both", 4, theirs);
        relocations.add(0, types.struct("both", 4, ours), "0", CoreRelocationKind.TYPE_MATCHES.number());
        relocated();
        ObjectSpec spec = object.parse();
        assertThat(DryRun.of(spec, kernel.build("kernel", ByteOrder.LITTLE_ENDIAN))
                        .programs()
                        .getFirst()
                        .findings())
                .singleElement()
                .asString()
                .contains("compare more than");
    }

    @Test
    void accessStringsThatAreLongOrLarge() {
        for (String access : new String[] {
            "0:0".repeat(10_000),
            ":".repeat(100_000),
            "0" + ":0".repeat(10_000),
            "9".repeat(8 << 20),
            "0".repeat(8 << 20),
            "99999999999",
            "4294967295",
            "-1",
            "",
            ":",
            "0:",
            "2147483647:0:3",
            "0x1",
            "0:2147483647",
            "٣"
        }) {
            HostileObjectsTest one = new HostileObjectsTest();
            int type = one.types.struct(
                    "s", 8, Member.at("a", one.types.array(one.object.integer, one.object.integer, 4), 0));
            one.relocations.add(0, type, access, 0);
            one.relocated();
            one.outcome();
        }
    }

    /** One string, and names that start at each of its bytes. */
    @Test
    void namesThatShareOneString() {
        int length = 4 << 20;
        String text = "x".repeat(length);
        types.string(text);
        byte[] bytes = withMembersNamedInside(text);
        assertThat(outcome(bytes)).isEqualTo(Outcome.UNREADABLE);
    }

    private byte[] withMembersNamedInside(String text) {
        Member[] members = new Member[MEMBERS];
        Arrays.fill(members, Member.at("", object.integer, 0));
        relocations.add(0, types.struct(text, 4, members), "0:0", 0);
        for (int i = 0; i < 5_000; i++) {
            types.add(new BtfType.Fwd(text, false));
        }
        relocated();
        byte[] bytes = object.bytes();
        // Every name that is the text becomes one that starts further on; so do the members'.
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int btf = indexOf(bytes, new byte[] {(byte) 0x9f, (byte) 0xeb, 1, 0, 24});
        int typeEnd = btf + 24 + file.getInt(btf + 12);
        int name = types.string(text);
        int step = 0;
        for (int at = btf + 24; at < typeEnd; ) {
            int kind = file.getInt(at + 4) >>> 24 & 31;
            int vlen = file.getInt(at + 4) & 0xffff;
            if (file.getInt(at) == name) {
                file.putInt(at, name + step++);
            }
            if (kind == 4) {
                for (int i = 0; i < vlen; i++) {
                    file.putInt(at + 12 + 12 * i, name + step++);
                }
            }
            at += 12
                    + switch (kind) {
                        case 1, 14, 17 -> 4;
                        case 3 -> 12;
                        case 4, 5, 15, 19 -> 12 * vlen;
                        case 6, 13 -> 8 * vlen;
                        default -> 0;
                    };
        }
        return bytes;
    }

    private static int indexOf(byte[] bytes, byte[] wanted) {
        for (int i = 0; i < bytes.length; i++) {
            if (Arrays.equals(bytes, i, Math.min(bytes.length, i + wanted.length), wanted, 0, wanted.length)) {
                return i;
            }
        }
        return -1;
    }

    @Test
    void recordsOfSectionsWithLongNames() {
        String text = "y".repeat(4 << 20);
        relocations.add(0, object.integer, "0", 8);
        String[] sections = new String[20_000];
        Arrays.fill(sections, text);
        object.program("socket", "prog", MOV, EXIT);
        object.section(".BTF.ext", Section.SHT_PROGBITS, 0, relocations.ext(sections));
        assertThat(outcome()).isEqualTo(Outcome.UNREADABLE);
    }

    // Code

    private void functions(int section, int count, int slots) {
        for (int i = 0; i < count; i++) {
            object.symbol("f" + i, section, 8L * slots * i, 8L * slots, Symbol.STT_FUNC, Symbol.STB_GLOBAL, 0);
        }
    }

    private static byte[] code(List<Instruction> code) {
        return Instructions.encode(code, ByteOrder.LITTLE_ENDIAN);
    }

    /** Each calls the next. */
    @Test
    void functionsThatCallEachOtherInAChain() {
        List<Instruction> code = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            code.add(CALL.withImm(i == MANY - 1 ? -2 * MANY + 1 : 1));
            code.add(EXIT);
        }
        int text = object.section(".text", Section.SHT_PROGBITS, Section.SHF_ALLOC | EXEC, code(code));
        functions(text, MANY, 2);
        List<Instruction> programs = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            programs.add(CALL);
            programs.add(EXIT);
        }
        int section = object.section("socket", Section.SHT_PROGBITS, Section.SHF_ALLOC | EXEC, code(programs));
        for (int i = 0; i < 200; i++) {
            object.symbol("prog" + i, section, 16L * i, 16, Symbol.STT_FUNC, Symbol.STB_GLOBAL, Symbol.STV_DEFAULT);
            object.relocation(section, 16L * i, 1 + i);
        }
        assertThat(outcome()).isEqualTo(Outcome.REFUSED);
    }

    @Test
    void manyProgramsWithOneLargeFunction() {
        Instruction[] body = new Instruction[900_000];
        Arrays.fill(body, MOV);
        body[body.length - 1] = EXIT;
        object.program(".text", "large", body);
        int large = 1;
        List<Instruction> code = new ArrayList<>();
        int count = 10_000;
        for (int i = 0; i < count; i++) {
            code.add(CALL);
            code.add(EXIT);
        }
        int section = object.section("socket", Section.SHT_PROGBITS, Section.SHF_ALLOC | EXEC, code(code));
        functions(section, count, 2);
        for (int i = 0; i < count; i++) {
            object.relocation(section, 16L * i, large);
        }
        assertThat(outcome()).isEqualTo(Outcome.REFUSED);
    }

    @Test
    void manyCallbacksOfOneProgram() {
        int proto = types.add(new BtfType.FuncProto(0, List.of()));
        int func = types.add(new BtfType.Func("prog", proto, 1));
        for (int i = 0; i < MANY; i++) {
            types.add(new BtfType.DeclTag("exception_callback:f" + (MANY / 2 - 1), func, -1, false));
        }
        List<Instruction> code = new ArrayList<>();
        for (int i = 0; i < MANY / 2; i++) {
            code.add(EXIT);
        }
        int text = object.section(".text", Section.SHT_PROGBITS, Section.SHF_ALLOC | EXEC, code(code));
        functions(text, MANY / 2, 1);
        object.program("socket", "prog", MOV, EXIT);
        assertThat(outcome()).isEqualTo(Outcome.LOADED);
    }

    @Test
    void manyTagsOfFunctionsWithManyParameters() {
        BtfType.Parameter[] parameters = new BtfType.Parameter[MEMBERS];
        Arrays.fill(parameters, new BtfType.Parameter("p", object.integer));
        int proto = types.add(new BtfType.FuncProto(0, List.of(parameters)));
        int func = types.add(new BtfType.Func("prog", proto, 1));
        for (int i = 0; i < MANY; i++) {
            types.add(new BtfType.DeclTag("arg:ctx", func, i % 100, false));
        }
        object.program("socket", "prog", MOV, EXIT);
        assertThat(outcome()).isEqualTo(Outcome.LOADED);
    }

    // Tables

    @Test
    void manyMaps() {
        Member[] members = {
            object.number("type", 1),
            object.type("key", object.integer),
            object.type("value", object.integer),
            object.number("max_entries", 1)
        };
        int definition = object.definition(members);
        object.data(".maps", new byte[MANY * 32]);
        List<Instruction> code = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            object.variable(".maps", "m" + i, definition, i * 32L, 32, BtfType.Linkage.GLOBAL, 0);
            code.add(LOAD);
            code.add(LOAD_2);
        }
        code.add(EXIT);
        int program = object.program("socket", "prog", code.toArray(Instruction[]::new));
        for (int i = 0; i < MANY; i++) {
            object.relocation(program, 16L * i, 1 + i);
        }
        assertThat(outcome()).isEqualTo(Outcome.LOADED);
    }

    @Test
    void manyMapsOfLargeStructs() {
        Member[] large = new Member[MEMBERS];
        Arrays.fill(large, Member.at("m", object.integer, 0));
        int struct = types.struct("large", 4, large);
        Member[] members = {
            object.number("type", 1),
            object.type("key", struct),
            object.type("value", struct),
            object.number("max_entries", 1)
        };
        int definition = object.definition(members);
        object.data(".maps", new byte[MANY / 2 * 32]);
        for (int i = 0; i < MANY / 2; i++) {
            object.variable(".maps", "m" + i, definition, i * 32L, 32, BtfType.Linkage.GLOBAL, 0);
        }
        assertThat(outcome()).isEqualTo(Outcome.LOADED);
    }

    @Test
    void manyMapsOfManyMembers() {
        Member[] members = new Member[MEMBERS];
        Arrays.fill(members, object.number("type", 1));
        int definition = object.definition(members);
        object.data(".maps", new byte[MANY / 2 * 32]);
        for (int i = 0; i < MANY / 2; i++) {
            object.variable(".maps", "m" + i, definition, i * 32L, 32, BtfType.Linkage.GLOBAL, 0);
        }
        assertThat(outcome()).isEqualTo(Outcome.UNREADABLE);
    }

    @Test
    void manySlotsOfManyPrograms() {
        int proto = types.add(new BtfType.FuncProto(0, List.of()));
        int definition = object.definition(
                object.number("type", 3), object.number("max_entries", 50_000), object.array("values", proto));
        List<Instruction> code = new ArrayList<>();
        for (int i = 0; i < 50_000; i++) {
            code.add(EXIT);
        }
        int section = object.section("socket", Section.SHT_PROGBITS, Section.SHF_ALLOC | EXEC, code(code));
        functions(section, 50_000, 1);
        int maps = object.data(".maps", new byte[16 + 8 * 50_000]);
        object.variable(".maps", "table", definition, 0, 16 + 8 * 50_000, BtfType.Linkage.GLOBAL, 0);
        for (int i = 0; i < 50_000; i++) {
            object.relocation(maps, 16 + 8L * i, 1 + i);
        }
        assertThat(outcome()).isEqualTo(Outcome.LOADED);
    }

    @Test
    void manyRelocationsOfALargeStruct() {
        Member[] members = new Member[MEMBERS];
        for (int i = 0; i < MEMBERS; i++) {
            members[i] = Member.at("m" + i, object.integer, 0);
        }
        int struct = types.struct("large", 4, members);
        for (int i = 0; i < MANY; i++) {
            relocations.add(i, struct, "0:" + i % MEMBERS, 0);
        }
        relocated();
        assertThat(outcome()).isEqualTo(Outcome.LOADED);
    }

    @Test
    void manyRelocationsOfALargeEnum() {
        List<BtfType.EnumValue> values = new ArrayList<>();
        for (int i = 0; i < MEMBERS; i++) {
            values.add(new BtfType.EnumValue("VALUE_" + i, 0));
        }
        int enumeration = types.add(new BtfType.Enum32("large", 4, false, values));
        for (int i = 0; i < MANY; i++) {
            relocations.add(i, enumeration, "" + i % MEMBERS, 11);
        }
        relocated();
        assertThat(outcome()).isEqualTo(Outcome.LOADED);
    }

    @Test
    void manyRelocationsOfManyTypesOfOneName() {
        int first = types.nextId();
        for (int i = 0; i < 20_000; i++) {
            types.struct("same", 4, Member.at("m", object.integer, 0));
        }
        for (int i = 0; i < 20_000; i++) {
            relocations.add(i, first + i, "0:0", 0);
        }
        relocated();
        assertThat(outcome()).isEqualTo(Outcome.LOADED);
    }

    @Test
    void manyExterns() {
        for (int i = 0; i < MANY; i++) {
            object.extern(".ksyms", "sym" + i, object.integer, true);
        }
        assertThat(outcome()).isEqualTo(Outcome.LOADED);
    }

    @Test
    void manyOptionsOfOneLargeEnum() {
        List<BtfType.EnumValue> values = new ArrayList<>();
        for (int i = 0; i < MEMBERS; i++) {
            values.add(new BtfType.EnumValue("VALUE_" + i, i));
        }
        int tristate = types.add(new BtfType.Enum32("libbpf_tristate", 4, false, values));
        for (int i = 0; i < MANY / 2; i++) {
            object.extern(".kconfig", "CONFIG_" + i, tristate, true);
        }
        assertThat(outcome()).isEqualTo(Outcome.LOADED);
    }

    @Test
    void manyGlobals() {
        object.data(".data", new byte[MANY * 4]);
        for (int i = 0; i < MANY; i++) {
            object.variable(".data", "v" + i, object.integer, i * 4L, 4, BtfType.Linkage.GLOBAL, 0);
        }
        assertThat(outcome()).isEqualTo(Outcome.LOADED);
    }

    @Test
    void manySectionsOfOneName() {
        object.data(".data", new byte[4]);
        int var = object.variable(".data", "v", object.integer, 0, 4, BtfType.Linkage.STATIC, 0);
        List<BtfType.SectionVariable> variables = new ArrayList<>();
        for (int i = 0; i < MEMBERS; i++) {
            variables.add(new BtfType.SectionVariable(var, 0, 4));
        }
        types.add(new BtfType.Datasec(".data", 4, variables));
        for (int i = 0; i < 5_000; i++) {
            object.data(".data", new byte[4]);
        }
        assertThat(outcome()).isEqualTo(Outcome.UNREADABLE);
    }

    @Test
    void manyStructsOfFunctionsAtOnePlace() {
        int proto = types.add(new BtfType.FuncProto(0, List.of()));
        int pointer = types.pointer(proto);
        Member[] members = new Member[MEMBERS];
        for (int i = 0; i < MEMBERS; i++) {
            members[i] = Member.at("f" + i, pointer, 0);
        }
        int struct = types.struct("ops", 8, members);
        object.data(".struct_ops.link", new byte[8]);
        for (int i = 0; i < 50_000; i++) {
            object.variable(".struct_ops.link", "ops" + i, struct, 0, 8, BtfType.Linkage.GLOBAL, 0);
        }
        assertThat(outcome()).isEqualTo(Outcome.UNREADABLE);
    }

    @Test
    void aStructOfManyFunctions() {
        int proto = types.add(new BtfType.FuncProto(0, List.of()));
        int pointer = types.pointer(proto);
        Member[] members = new Member[MEMBERS];
        for (int i = 0; i < MEMBERS; i++) {
            members[i] = Member.at("f" + i, pointer, 8L * i);
        }
        int struct = types.struct("ops", 8L * MEMBERS, members);
        types.struct("bpf_struct_ops_ops", 8L * MEMBERS, Member.at("data", struct, 0));
        int data = object.data(".struct_ops.link", new byte[8 * MEMBERS]);
        object.variable(".struct_ops.link", "ops", struct, 0, 8L * MEMBERS, BtfType.Linkage.GLOBAL, 0);
        object.program("struct_ops", "prog", MOV, EXIT);
        for (int i = 0; i < MEMBERS; i++) {
            object.relocation(data, 8L * i, 2);
        }
        assertThat(outcome()).isEqualTo(Outcome.REFUSED);
    }

    @Test
    void aStructOfPointersToLargeStructs() {
        Member[] large = new Member[MEMBERS];
        Arrays.fill(large, Member.at("m", object.integer, 0));
        int pointer = types.pointer(types.struct("large", 4, large));
        Member[] members = new Member[MEMBERS];
        for (int i = 0; i < MEMBERS; i++) {
            members[i] = Member.at("f" + i, pointer, 0);
        }
        int struct = types.struct("ops", 8, members);
        object.data(".struct_ops.link", new byte[8]);
        object.variable(".struct_ops.link", "ops", struct, 0, 8, BtfType.Linkage.GLOBAL, 0);
        assertThat(outcome()).isEqualTo(Outcome.REFUSED);
    }

    @Test
    void manySymbols() {
        for (int i = 0; i < 10 * MANY; i++) {
            object.symbol("s", 0xfff1, -1, -1, Symbol.STT_FUNC, Symbol.STB_GLOBAL, 0);
        }
        object.program("socket", "prog", MOV, EXIT);
        assertThat(outcome()).isEqualTo(Outcome.LOADED);
    }

    // The file

    @Test
    void compressedSections() {
        object.program("socket", "prog", MOV, EXIT);
        byte[] bytes = object.bytes();
        for (String name : List.of(".BTF", ".symtab", ".strtab", "socket")) {
            byte[] changed = bytes.clone();
            ByteBuffer file = ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN);
            int header = header(bytes, name);
            file.putLong(header + 8, file.getLong(header + 8) | Section.SHF_COMPRESSED);
            assertThatThrownBy(() -> ObjectSpec.parse("test.o", changed))
                    .as(name)
                    .hasMessageStartingWith("test.o")
                    .isInstanceOfAny(InvalidObjectException.class, MalformedDataException.class);
        }
    }

    /** Every number of every section header, made what no linker makes it. */
    @Test
    void sectionHeadersThatLie() {
        object.data(".data", new byte[16]);
        object.variable(".data", "v", object.integer, 0, 4, BtfType.Linkage.GLOBAL, Symbol.STV_DEFAULT);
        object.map(
                "map",
                object.number("type", 1),
                object.type("key", object.integer),
                object.type("value", object.integer),
                object.number("max_entries", 1));
        relocations.add(0, object.integer, "0", CoreRelocationKind.TYPE_EXISTS.number());
        int program = object.program("socket", "prog", LOAD, LOAD_2, EXIT);
        object.section(".BTF.ext", Section.SHT_PROGBITS, 0, relocations.ext("socket"));
        object.relocation(program, 0, 2);
        byte[] bytes = object.bytes();
        ByteBuffer original = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int first = (int) original.getLong(40);
        int count = original.getShort(60);
        int read = 0;
        for (int field = first; field < first + count * 64; field += 4) {
            int place = (field - first) % 64;
            boolean wide = (place >= 8 && place < 40) || place >= 48;
            for (long value :
                    new long[] {0, 1, 2, 7, 8, count - 1, count, 64, 0x7fff_ffffL, -1, Long.MIN_VALUE, bytes.length}) {
                byte[] changed = bytes.clone();
                ByteBuffer file = ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN);
                if (wide && field % 8 == 0) {
                    file.putLong(field, value);
                } else {
                    file.putInt(field, (int) value);
                }
                if (outcome(changed) != Outcome.UNREADABLE) {
                    read++;
                }
            }
        }
        assertThat(read).isPositive();
    }

    private static int header(byte[] bytes, String name) {
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int first = (int) file.getLong(40);
        int names = (int) file.getLong(first + 64 * file.getShort(62) + 24);
        for (int i = 1; i < file.getShort(60); i++) {
            int header = first + 64 * i;
            byte[] wanted = (name + "\0").getBytes(StandardCharsets.US_ASCII);
            int at = names + file.getInt(header);
            if (Arrays.equals(bytes, at, at + wanted.length, wanted, 0, wanted.length)) {
                return header;
            }
        }
        throw new AssertionError("no section " + name);
    }
}
