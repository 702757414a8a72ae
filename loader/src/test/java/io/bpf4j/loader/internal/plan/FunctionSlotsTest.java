package io.bpf4j.loader.internal.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.CodeReference;
import io.bpf4j.loader.spec.CodeReference.ToFunction;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.Specs;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class FunctionSlotsTest {
    private static final int TEXT = 1;
    private static final Instruction EXIT = new Instruction(0x95, 0, 0, 0, 0);

    @Test
    void whatAFunctionUsesFollowsRightBehindIt() {
        FunctionSpec main = function("main", 2, 0, 4, call(0, 0), call(1, 10));
        FunctionSpec first = function("first", TEXT, 0, 10, call(3, 20));
        FunctionSpec second = function("second", TEXT, 10, 10, call(3, 20), call(4, 0));
        FunctionSpec deepest = function("deepest", TEXT, 20, 5);
        assertThat(names(places(main, Optional.empty(), first, second, deepest)))
                .containsExactly("main@0", "first@4", "deepest@14", "second@19");
    }

    @Test
    void functionsThatCallEachOtherArePlacedOnce() {
        FunctionSpec main = function("main", 2, 0, 1, call(0, 0));
        FunctionSpec ping = function("ping", TEXT, 0, 2, call(0, 2));
        FunctionSpec pong = function("pong", TEXT, 2, 2, call(0, 0));
        assertThat(names(places(main, Optional.empty(), ping, pong))).containsExactly("main@0", "ping@1", "pong@3");
    }

    @Test
    void ofAliasesTheReplacedOneIsCalled() {
        FunctionSpec main = function("main", 2, 0, 1, call(0, 0));
        FunctionSpec sub = function("sub", TEXT, 0, 1);
        FunctionSpec alias = function("alias", TEXT, 0, 1);
        assertThat(names(places(main, Optional.empty(), sub, alias))).containsExactly("main@0", "alias@1");
        FunctionSpec replaced = sub.withInstructions(List.of(EXIT, EXIT));
        assertThat(names(places(main, Optional.empty(), replaced, alias))).containsExactly("main@0", "sub@1");
    }

    @Test
    void aChainMayBeLongerThanAStackIsDeep() {
        List<FunctionSpec> chain = new ArrayList<>();
        int length = 100_000;
        for (int i = 0; i < length; i++) {
            chain.add(i + 1 < length ? function("f" + i, TEXT, i, 1, call(0, i + 1)) : function("last", TEXT, i, 1));
        }
        FunctionSpec main = function("main", 2, 0, 1, call(0, 0));
        assertThat(places(main, Optional.empty(), chain.toArray(FunctionSpec[]::new)))
                .hasSize(length + 1)
                .containsEntry(chain.getLast(), length);
    }

    @Test
    void theExceptionCallbackComesLast() {
        FunctionSpec main = function("main", 2, 0, 3, call(0, 0));
        FunctionSpec handler = function("handler", TEXT, 2, 2, call(0, 4));
        FunctionSpec helper = function("helper", TEXT, 4, 1);
        FunctionSpec used = function("used", TEXT, 0, 2);
        assertThat(names(places(main, Optional.of("exception_callback:handler"), used, handler, helper)))
                .containsExactly("main@0", "used@3", "handler@5", "helper@7");
    }

    @Test
    void aTagOfAnotherKindMeansNothing() {
        FunctionSpec main = function("main", 2, 0, 3);
        FunctionSpec handler = function("handler", TEXT, 0, 2);
        assertThat(places(main, Optional.of("callback:handler"), handler)).hasSize(1);
    }

    @Test
    void aCallbackThatIsNotThereIsNamed() {
        FunctionSpec main = function("main", 2, 0, 3);
        assertThatThrownBy(() -> places(main, Optional.of("exception_callback:handler")))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessage(
                        "test.o: program \"main\" names \"handler\" as its exception callback, which is not a global"
                                + " function of the object");
    }

    @Test
    void aCallIntoTheMiddleOfAFunctionIsRefused() {
        FunctionSpec main = function("main", 2, 0, 3, call(1, 5));
        FunctionSpec function = function("function", TEXT, 4, 2);
        assertThatThrownBy(() -> places(main, Optional.empty(), function))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("instruction 1 calls slot 5 of section 1, where no function starts");
    }

    private static Map<FunctionSpec, Integer> places(FunctionSpec main, Optional<String> tag, FunctionSpec... others) {
        ProgramSpec program = ProgramSpec.of("syscall", main);
        List<FunctionSpec> functions = new ArrayList<>(List.of(others));
        functions.add(main);
        BtfBuilder types = BtfBuilder.create();
        tag.ifPresent(text -> {
            int prototype = types.add(new BtfType.FuncProto(0, List.of()));
            int function = types.add(new BtfType.Func("main", prototype, 1)); // global
            types.add(new BtfType.DeclTag(text, function, -1, false));
        });
        ObjectSpec spec = Specs.object(
                ByteOrder.nativeOrder(),
                List.of(program),
                functions,
                Optional.of(types.build("test.o", ByteOrder.nativeOrder())));
        return new FunctionSlots(spec).of(program);
    }

    private static List<String> names(Map<FunctionSpec, Integer> places) {
        return places.entrySet().stream()
                .map(place -> place.getKey().name() + "@" + place.getValue())
                .toList();
    }

    private static FunctionSpec function(String name, int section, int slot, int size, CodeReference... references) {
        return Specs.function(name, section, ".text", slot, false, Collections.nCopies(size, EXIT), references);
    }

    private static CodeReference call(int instruction, int slot) {
        return new ToFunction(instruction, TEXT, slot);
    }
}
