package io.bpf4j.loader.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.BtfType.Member;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.Symbol;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.error.InvalidObjectException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Structs of functions as no compiler writes them: int number, a function at byte 8, 8 bytes that others lay out. */
class StructOpsReaderTest {
    private static final String SECTION = "?.struct_ops.link";
    private static final Instruction EXIT = new Instruction(0x95, 0, 0, 0, 0);
    private static final int SIZE = 24;

    private final TestObject object = new TestObject();
    private final int function =
            object.types.pointer(object.types.add(new BtfType.FuncProto(object.integer, List.of())));
    private final int section = object.data(SECTION, new byte[SIZE]);

    private void variable(String name, int type, long offset) {
        object.variable(SECTION, name, type, offset, SIZE, BtfType.Linkage.GLOBAL, Symbol.STV_DEFAULT);
    }

    private void ops(Member... more) {
        Member[] members = new Member[more.length + 2];
        members[0] = Member.at("number", object.integer, 0);
        members[1] = Member.at("open", function, 8);
        System.arraycopy(more, 0, members, 2, more.length);
        variable("mine", object.types.struct("ops", SIZE, members), 0);
    }

    private int symbol(String name, int in, int type) {
        return object.symbol(name, in, 0, 8, type, Symbol.STB_GLOBAL, Symbol.STV_DEFAULT);
    }

    private int program() {
        int code = object.program("struct_ops/open", "on_open", EXIT);
        return symbol("same_place", code, Symbol.STT_NOTYPE);
    }

    private void refused(String reason) {
        assertThatThrownBy(object::parse)
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining(SECTION)
                .hasMessageContaining(reason);
    }

    @Test
    void aRelocationNamesTheFunctionOfAMember() {
        ops();
        object.relocation(section, 8, program());
        StructOpsSpec read = object.parse().structOps().getFirst();
        assertThat(read.functions()).containsExactly(Map.entry("open", "on_open"));
        assertThat(read.autocreate()).isFalse();
        assertThat(read.isLinked()).isTrue();
        assertThat(read.order()).isEqualTo(object.parse().order());
        assertThat(read.members())
                .extracting(StructOpsSpec.Member::name, StructOpsSpec.Member::offset, StructOpsSpec.Member::function)
                .containsExactly(tuple("number", 0, false), tuple("open", 8, true));
    }

    @Test
    void ofAliasesTheOneThatTheRelocationNamesIsTaken() {
        ops();
        int code = object.program("struct_ops/open", "on_open", EXIT);
        int alias = symbol("on_open_too", code, Symbol.STT_FUNC);
        object.relocation(section, 8, alias);
        assertThat(object.parse().structOps().getFirst().functions()).containsExactly(Map.entry("open", "on_open_too"));
    }

    @Test
    void aVariableThatIsNoStructIsRefused() {
        variable("mine", object.integer, 0);
        refused("contains \"mine\", which is not a struct");
    }

    @Test
    void aVariableBeyondItsSectionIsRefused() {
        variable("mine", object.types.struct("ops", SIZE, Member.at("open", function, 8)), 8);
        refused("has no room for \"mine\"");
    }

    @Test
    void aMemberBeyondTheStructIsRefused() {
        ops(Member.at("far", object.integer, 4096));
        refused("member \"far\" is beyond its 24 bytes");
    }

    @Test
    void anAnonymousMemberBeyondTheStructIsRefused() {
        ops(Member.at("", object.integer, 4096));
        refused("member \"\" is beyond its 24 bytes");
    }

    @Test
    void anAnonymousMemberOfGigabytesIsRefused() {
        ops(Member.at("", object.types.array(object.integer, object.integer, 0x3fff_ffff), 16));
        refused("member \"\" is beyond its 24 bytes");
    }

    @Test
    void aBitFieldBeyondTheStructIsRefused() {
        ops(new Member("bits", object.integer, 23 * 8 + 4, 5));
        refused("member \"bits\" is beyond its 24 bytes");
    }

    @Test
    void aRelocationWhereNoVariableStandsIsRefused() {
        ops();
        object.relocation(section, 4096, program());
        assertThatThrownBy(object::parse)
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("relocation of byte 4096")
                .hasMessageContaining("where there is no variable");
    }

    @Test
    void anAddressWhereNoFunctionBelongsIsRefused() {
        ops();
        object.relocation(section, 0, program());
        refused("has a relocation for byte 0 of \"mine\", where struct ops has no pointer to a function");
    }

    @Test
    void aMemberThatPointsToDataIsRefused() {
        ops();
        object.relocation(section, 8, symbol("table", object.data(".data", new byte[8]), Symbol.STT_OBJECT));
        refused("refers to \"table\", which is not a function of the object");
    }
}
