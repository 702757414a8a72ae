package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.BtfType.Member;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import io.bpf4j.insn.Instruction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Tables of tens of thousands of entries, each of which is small: whatever is looked up for each must not be a search.
 */
@Execution(ExecutionMode.CONCURRENT)
class HostileTablesTest extends HostileObject {
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
}
