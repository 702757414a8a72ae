package io.bpf4j.btf;

import java.nio.ByteOrder;
import java.util.List;

/** Small BTF with types of every kind. */
public final class BtfSeeds {
    /** Where the access string "0" is in {@link #many} and {@link #namesakes}. */
    public static final int ZERO = 1;

    private BtfSeeds() {}

    private static BtfBuilder withZero() {
        BtfBuilder types = BtfBuilder.create();
        if (types.string("0") != ZERO) {
            throw new IllegalStateException("the first string is not the first");
        }
        return types;
    }

    /** Types of every kind; the ids are their positions in the code, from 1. */
    public static BtfBuilder everyKind() {
        BtfBuilder types = BtfBuilder.create();
        types.integer("int", 4, BtfType.Int.SIGNED);
        types.pointer(4);
        types.array(1, 1, 7);
        types.struct(
                "pair",
                24,
                BtfType.Member.at("a", 1, 0),
                new BtfType.Member("bits", 1, 32, 3),
                BtfType.Member.at("next", 2, 8),
                BtfType.Member.at("", 5, 16));
        types.union("", 8, BtfType.Member.at("x", 1, 0), BtfType.Member.at("y", 2, 0));
        types.add(new BtfType.Enum32("e", 4, true, List.of(new BtfType.EnumValue("MINUS", -1))));
        types.add(new BtfType.Fwd("later", false));
        types.typedef("number", 1);
        types.add(new BtfType.Volatile(8));
        types.add(new BtfType.Const(9));
        types.add(new BtfType.Restrict(2));
        types.add(new BtfType.FuncProto(1, List.of(new BtfType.Parameter("p", 2), new BtfType.Parameter("", 0))));
        types.add(new BtfType.Func("f", 12, BtfType.Linkage.GLOBAL));
        types.add(new BtfType.Var("v", 10, BtfType.Linkage.GLOBAL));
        types.add(new BtfType.Datasec(".data", 4, List.of(new BtfType.SectionVariable(14, 0, 4))));
        types.add(new BtfType.FloatingPoint("double", 8));
        types.add(new BtfType.DeclTag("tag", 4, -1, false));
        types.add(new BtfType.TypeTag("user", 1, false));
        types.add(new BtfType.Enum64("big", 8, false, List.of(new BtfType.EnumValue("TOP", 0xfedcba9876543210L))));
        types.integer("long unsigned int", 8, 0);
        return types;
    }

    public static byte[] everyKind(ByteOrder order) {
        return everyKind().toBytes(order);
    }

    /** A struct with so many members, and as many structs that have it as a member. */
    public static byte[] many(int count) {
        BtfBuilder types = withZero();
        int number = types.integer("int", 4, BtfType.Int.SIGNED);
        BtfType.Member[] members = new BtfType.Member[count];
        for (int i = 0; i < count; i++) {
            members[i] = BtfType.Member.at("member_" + (100_000 + i), number, 4L * i);
        }
        int large = types.struct("large", 4L * count, members);
        for (int i = 0; i < count; i++) {
            types.struct("struct_" + (100_000 + i), 4L * count, BtfType.Member.at("large", large, 0));
        }
        return types.toBytes(ByteOrder.LITTLE_ENDIAN);
    }

    /** So many types of one name. */
    public static byte[] namesakes(int count) {
        BtfBuilder types = withZero();
        int number = types.integer("int", 4, BtfType.Int.SIGNED);
        for (int i = 0; i < count; i++) {
            types.struct("same", 8, BtfType.Member.at("a", number, 0), BtfType.Member.at("b", number, 4));
        }
        return types.toBytes(ByteOrder.LITTLE_ENDIAN);
    }
}
