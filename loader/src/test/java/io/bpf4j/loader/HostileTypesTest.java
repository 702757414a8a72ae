package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;

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
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.TestObject;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Types that lead back to themselves, nest a thousand deep, share a name of megabytes; and questions about them. */
class HostileTypesTest extends HostileObject {
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

    private HostileTypesTest copy() {
        HostileTypesTest copy = new HostileTypesTest();
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
            HostileTypesTest one = new HostileTypesTest();
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
}
