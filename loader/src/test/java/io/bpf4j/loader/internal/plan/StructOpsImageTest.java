package io.bpf4j.loader.internal.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.BtfType.Member;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.loader.ScriptedLoads;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.error.UnknownNameException;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.Specs;
import io.bpf4j.loader.spec.StructOpsSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The object's struct: u32 number, two functions, char name[8]. The kernel's has them elsewhere, behind 16 bytes. */
class StructOpsImageTest {
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    private final Btf object = object("ops___mine");
    private final StructOpsSpec variable = Specs.structOps(
            "mine",
            "ops___mine",
            object.find("ops___mine", BtfKind.STRUCT).orElseThrow(),
            ORDER,
            new byte[32],
            List.of(
                    new StructOpsSpec.Member("number", 0, 4, false),
                    new StructOpsSpec.Member("bits", 4, 0, false),
                    new StructOpsSpec.Member("open", 8, 8, true),
                    new StructOpsSpec.Member("shut", 16, 8, true),
                    new StructOpsSpec.Member("name", 24, 8, false)),
            Map.of("open", "on_open", "shut", "on_shut"));

    private static Btf object(String name) {
        BtfBuilder types = BtfBuilder.create();
        int number = types.integer("unsigned int", 4, 0);
        int function = types.pointer(types.add(new BtfType.FuncProto(number, List.of())));
        int text = types.array(types.integer("char", 1, 0), number, 8);
        types.struct(
                name,
                32,
                Member.at("number", number, 0),
                new Member("bits", number, 32, 3),
                Member.at("open", function, 8),
                Member.at("shut", function, 16),
                Member.at("name", text, 24));
        return types.build("object", ORDER);
    }

    private static Btf kernel(Member... members) {
        BtfBuilder types = kernelTypes();
        int ops = types.struct("ops", 48, members);
        types.struct("bpf_struct_ops_ops", 64, Member.at("common", 1, 0), Member.at("data", ops, 16));
        return types.build("kernel", ORDER);
    }

    /** 1 u32, 3 pointer to a function, 5 char[8], 6 u64, 7 pointer to u64. */
    private static BtfBuilder kernelTypes() {
        BtfBuilder types = BtfBuilder.create();
        int number = types.integer("unsigned int", 4, 0);
        types.pointer(types.add(new BtfType.FuncProto(number, List.of())));
        types.array(types.integer("char", 1, 0), number, 8);
        types.pointer(types.integer("unsigned long", 8, 0));
        return types;
    }

    private StructOpsImage image(StructOpsSpec of, Btf kernel) {
        return StructOpsImage.of(of, object, TargetKernel.ofTypes(CoreTarget.of(kernel), null));
    }

    private static final Member NAME = Member.at("name", 5, 0);
    private static final Member SHUT = Member.at("shut", 3, 8);
    private static final Member OPEN = Member.at("open", 3, 24);
    private static final Member NUMBER = Member.at("number", 1, 40);
    private static final Member BITS = new Member("bits", 1, 44 * 8, 3);

    @Test
    void theStructsThatAreMadeSayWhichProgramsAreLoaded() {
        ObjectSpec spec = ScriptedLoads.spec("struct_ops.bpf.o");
        StructOpsSpec second = spec.structOps("second").withAutocreate(true);
        assertThat(spec.program("second_avoid").autoload())
                .as("SEC(\"?struct_ops\")")
                .isFalse();
        assertThat(loaded(spec, Map.of())).isEmpty();
        assertThat(loaded(spec, Map.of("second", second)))
                .containsExactly("ssthresh", "undo_cwnd", "second_avoid", "on_init", "on_release");
        StructOpsSpec smaller = second.withoutFunction("init").withoutFunction("cong_avoid");
        assertThat(loaded(spec, Map.of("second", smaller)))
                .as("what was taken out of every struct is not loaded")
                .containsExactly("ssthresh", "undo_cwnd", "on_release");
        assertThat(loaded(spec, Map.of("second", smaller.withFunction("ssthresh", "undo_cwnd"))))
                .containsExactly("undo_cwnd", "on_release");
        ProgramSpec left = spec.program("undo_cwnd").withAutoload(false);
        assertThat(loaded(spec.withPrograms(Map.of("undo_cwnd", left)), Map.of("second", smaller)))
                .as("an edit of the program decides")
                .containsExactly("ssthresh", "on_release");
    }

    private static List<String> loaded(ObjectSpec spec, Map<String, StructOpsSpec> edited) {
        StructOpsImages images = new StructOpsImages(spec.withStructOps(edited));
        return spec.programs().stream()
                .filter(images::isLoaded)
                .map(ProgramSpec::name)
                .toList();
    }

    @Test
    void membersGoWhereTheKernelHasThem() {
        StructOpsSpec edited = variable.withValue("number", 7).withText("name", "fine");
        StructOpsImage image = image(edited, kernel(NAME, SHUT, Member.at("other", 6, 16), OPEN, NUMBER, BITS));
        ByteBuffer value = ByteBuffer.wrap(image.value()).order(ORDER);
        assertThat(value.capacity()).isEqualTo(64);
        assertThat(value.getInt(16 + 40)).isEqualTo(7);
        assertThat(value.get(16)).isEqualTo((byte) 'f');
        assertThat(image.slots())
                .containsExactly(
                        new StructOpsImage.Slot(16 + 24, 3, "open", "on_open"),
                        new StructOpsImage.Slot(16 + 8, 1, "shut", "on_shut"));
    }

    @Test
    void whatDoesNotFitIsRefusedByName() {
        assertRefused("this kernel has no struct ops", variable, kernelTypes().build("kernel", ORDER));
        assertRefused("unknown to this kernel", variable, kernel(NAME, SHUT, NUMBER, BITS));
        assertRefused(
                "\"number\" of struct ops___mine has 4 bytes in the object and 8 in the kernel",
                variable,
                kernel(NAME, SHUT, OPEN, Member.at("number", 6, 40), BITS));
        assertRefused(
                "\"open\" of struct ops___mine is of kind PTR in the object and INT in the kernel",
                variable,
                kernel(NAME, SHUT, Member.at("open", 6, 24), NUMBER, BITS));
        assertRefused(
                "is a program in the object, but not a function pointer in the kernel",
                variable,
                kernel(NAME, SHUT, Member.at("open", 7, 24), NUMBER, BITS));
        assertRefused(
                "\"number\" of struct ops___mine is unknown to this kernel, but not 0 in the object",
                variable.withValue("number", -1),
                kernel(NAME, SHUT, OPEN, BITS));
    }

    private void assertRefused(String problem, StructOpsSpec of, Btf kernel) {
        assertThatThrownBy(() -> image(of, kernel))
                .isInstanceOf(RelocationException.class)
                .hasMessageStartingWith("struct_ops variable \"mine\": ")
                .hasMessageContaining(problem);
    }

    @Test
    void aStructThatCantBeImplementedIsToldFromOneThatIsNotThere() {
        BtfBuilder types = kernelTypes();
        types.struct("ops", 48, NAME);
        assertRefused("can't be implemented by programs", variable, types.build("kernel", ORDER));
    }

    @Test
    void placesOutsideOfTheKernelsStructAreRefused() {
        assertRefused(
                "\"number\" of struct ops___mine is at byte 4112, outside the 64 bytes",
                variable,
                kernel(NAME, SHUT, OPEN, Member.at("number", 1, 4096), BITS));
        assertRefused(
                "\"open\" of struct ops___mine is at byte 60, outside the 64 bytes",
                variable,
                kernel(NAME, SHUT, Member.at("open", 3, 44), NUMBER, BITS));
        BtfBuilder types = kernelTypes();
        int ops = types.struct("ops", 48, NAME);
        types.struct("bpf_struct_ops_ops", 1L << 30, Member.at("data", ops, 16));
        assertRefused("has 1073741824 bytes according to its BTF", variable, types.build("kernel", ORDER));
    }

    @Test
    void zeroMayBeMissing() {
        StructOpsSpec bare = variable.withoutFunction("open").withoutFunction("shut");
        assertThat(image(bare, kernel(NAME)).slots()).isEmpty();
    }

    @Test
    void editsCheckTheMember() {
        assertThatThrownBy(() -> variable.withValue("numbers", 1))
                .isInstanceOf(UnknownNameException.class)
                .hasMessageContaining(
                        "no member 'numbers' in struct ops___mine; the nearest is 'number' among 'bits', ");
        assertThatThrownBy(() -> variable.withValue("number", 1L << 32)).hasMessageContaining("too few for 4294967296");
        assertThatThrownBy(() -> variable.withValue("bits", 1)).isInstanceOf(InvalidObjectException.class);
        assertThatThrownBy(() -> variable.withValue("open", 1)).hasMessageContaining("withFunction");
        assertThatThrownBy(() -> variable.withFunction("name", "program")).hasMessageContaining("is not a function");
        assertThatThrownBy(() -> variable.withText("name", "eight ch")).hasMessageContaining("and a NUL");
    }
}
