package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import io.bpf4j.insn.Instruction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Functions that call each other without end, and small files that come to millions of instructions. */
class HostileCodeTest extends HostileObject {
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
    void manyAliasesOfOneLargeFunction() {
        Instruction[] body = new Instruction[900_000];
        Arrays.fill(body, MOV);
        body[body.length - 1] = EXIT;
        int section = object.program("socket", "large", body);
        for (int i = 0; i < 10_000; i++) {
            object.symbol(
                    "alias" + i, section, 0, 8L * body.length, Symbol.STT_FUNC, Symbol.STB_GLOBAL, Symbol.STV_DEFAULT);
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
}
