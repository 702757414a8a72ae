package io.bpf4j.loader.feature;

import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.internal.sys.ProgCommand;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.Consumer;

/**
 * The smallest BTF that has a given kind, encoded for this machine. Type 1 is always {@code int}.
 *
 * <p>Tested by {@code FeaturesOnKernelTest}.
 */
final class ProbeBtf {
    static final int INT = 1;

    private ProbeBtf() {}

    static byte[] integer() {
        return encode(_ -> {});
    }

    /** Before functions had a linkage the field was required to be 0, which now means static. */
    static byte[] function() {
        return encode(btf -> function(btf, BtfType.Linkage.STATIC));
    }

    static byte[] globalFunction() {
        return encode(btf -> function(btf, BtfType.Linkage.GLOBAL));
    }

    private static void function(BtfBuilder btf, int linkage) {
        int prototype = btf.add(new BtfType.FuncProto(0, List.of()));
        btf.add(new BtfType.Func("x", prototype, linkage));
    }

    static byte[] dataSection() {
        return encode(btf -> {
            int variable = btf.add(new BtfType.Var("x", INT, BtfType.Linkage.STATIC));
            btf.add(new BtfType.Datasec(".bss", 4, List.of(new BtfType.SectionVariable(variable, 0, 4))));
        });
    }

    static byte[] floatingPoint() {
        return encode(btf -> btf.add(new BtfType.FloatingPoint("x", 4)));
    }

    /** A tag on a variable as a whole, which is component -1. */
    static byte[] declarationTag() {
        return encode(btf -> {
            int variable = btf.add(new BtfType.Var("x", INT, BtfType.Linkage.GLOBAL));
            btf.add(new BtfType.DeclTag("x", variable, -1, false));
        });
    }

    static byte[] typeTag() {
        return encode(btf -> btf.add(new BtfType.Ptr(btf.add(new BtfType.TypeTag("x", INT, false)))));
    }

    static byte[] enum64() {
        return encode(btf -> btf.add(new BtfType.Enum64("", 8, false, List.of(new BtfType.EnumValue("x", 0)))));
    }

    /**
     * Types 2 to 6: {@code void *}, {@code int(void *)}, two functions of it, and a tag on the argument of the second.
     */
    static byte[] contextArgument() {
        return encode(btf -> {
            int pointer = btf.pointer(0);
            int prototype = btf.add(new BtfType.FuncProto(INT, List.of(new BtfType.Parameter("ctx", pointer))));
            btf.add(new BtfType.Func("probe", prototype, BtfType.Linkage.GLOBAL));
            int function = btf.add(new BtfType.Func("function", prototype, BtfType.Linkage.GLOBAL));
            btf.add(new BtfType.DeclTag("arg:ctx", function, 0, false));
        });
    }

    /** {@code struct bpf_func_info}: slot and type of each of these functions. */
    static ProgCommand.InfoTable functionsOfContextArgument() {
        ByteBuffer records = ByteBuffer.allocate(16).order(ByteOrder.nativeOrder());
        records.putInt(0).putInt(4).putInt(2).putInt(5);
        return new ProgCommand.InfoTable(records.array(), 8);
    }

    private static byte[] encode(Consumer<BtfBuilder> types) {
        BtfBuilder btf = BtfBuilder.create();
        btf.integer("int", 4, BtfType.Int.SIGNED);
        types.accept(btf);
        return btf.toBytes(ByteOrder.nativeOrder());
    }
}
