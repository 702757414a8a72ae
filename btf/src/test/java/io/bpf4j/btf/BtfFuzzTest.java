package io.bpf4j.btf;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.test.fuzz.FuzzTarget;
import io.bpf4j.test.fuzz.Limits;
import java.io.IOException;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Any bytes are types or malformed. Names are found by the index as by looking at each type; what a builder copies is
 * read as before. The first byte of an input says whether the rest is BTF, or BTF and split BTF on top of it; or a
 * kernel's, a distilled base and a module's on top of it.
 */
class BtfFuzzTest extends FuzzTarget {
    private static final int PLAIN = 0;
    private static final int SPLIT = 1;
    private static final int DISTILLED = 2;

    @Override
    protected List<byte[]> seeds() {
        Btf base = BtfSeeds.everyKind().build("base", ByteOrder.LITTLE_ENDIAN);
        BtfBuilder split = BtfBuilder.split(base);
        split.struct("mine", 24, BtfType.Member.at("theirs", 4, 0));
        split.pointer(4);
        BtfBuilder distilled = BtfBuilder.create();
        distilled.struct("pair", 24);
        distilled.integer("int", 4, BtfType.Int.SIGNED);
        BtfBuilder module = BtfBuilder.split(distilled.build("distilled", ByteOrder.LITTLE_ENDIAN));
        module.struct("mine", 28, BtfType.Member.at("theirs", 1, 0), BtfType.Member.at("count", 2, 24));
        return List.of(
                input(PLAIN, BtfSeeds.everyKind(ByteOrder.LITTLE_ENDIAN)),
                input(PLAIN, BtfSeeds.everyKind(ByteOrder.BIG_ENDIAN)),
                input(SPLIT, base.raw(), split.toBytes(ByteOrder.LITTLE_ENDIAN)),
                input(
                        DISTILLED,
                        base.raw(),
                        distilled.toBytes(ByteOrder.LITTLE_ENDIAN),
                        module.toBytes(ByteOrder.LITTLE_ENDIAN)));
    }

    private static byte[] input(int kind, byte[]... parts) {
        byte[] joined = joined(parts);
        byte[] input = new byte[joined.length + 1];
        input[0] = (byte) kind;
        System.arraycopy(joined, 0, input, 1, joined.length);
        return input;
    }

    /** A declaration in C names its type, and so does each that needs it; names have up to 4096 bytes. */
    @Override
    protected Limits limits() {
        return Limits.USUAL.withExecutions(300).withBytes(8 << 20, 20_000).withSteps(500_000, 20_000);
    }

    private static ByteView view(String name, byte[] bytes) {
        return ByteView.of(name, bytes, ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    protected void read(byte[] input) throws IOException {
        byte[] rest = input.length == 0 ? input : Arrays.copyOfRange(input, 1, input.length);
        Btf btf;
        try {
            btf = switch (input.length == 0 ? PLAIN : input[0]) {
                case SPLIT -> {
                    byte[][] parts = parts(rest, 2);
                    yield Btf.parse(view("split", parts[1]), Btf.parse(view("base", parts[0])));
                }
                case DISTILLED -> {
                    byte[][] parts = parts(rest, 3);
                    Btf base = Btf.parse(view("distilled", parts[1]));
                    yield DistilledBase.relocate(
                            Btf.parse(view("module", parts[2]), base), Btf.parse(view("kernel", parts[0])));
                }
                default -> Btf.parse(view("plain", rest));
            };
        } catch (MalformedDataException e) {
            assertThat(e.getMessage()).isNotBlank();
            return;
        }
        List<String> names = new ArrayList<>();
        List<BtfType> types = readTypes(btf, names);
        try {
            for (int id = 0; id < Math.min(names.size(), 16); id++) {
                String name = names.get(id);
                if (types.size() == btf.typeCount() && !name.isEmpty()) {
                    assertThat(btf.idsNamed(name)).as(name).contains(id);
                    assertThat(btf.idsNamedEssentially(name)).as(name).contains(id);
                    assertThat(btf.find(name, btf.kind(id)).orElse(-1))
                            .isEqualTo(firstNamed(btf, names, name, btf.kind(id)));
                }
            }
        } catch (MalformedDataException e) {
            assertThat(e.getMessage()).isNotBlank();
        }
        write(btf);
        copy(btf, types);
    }

    private static int firstNamed(Btf btf, List<String> names, String name, BtfKind kind) {
        for (int id = 1; id < names.size(); id++) {
            if (btf.kind(id) == kind && names.get(id).equals(name)) {
                return id;
            }
        }
        return -1;
    }

    /** All types up to the first that is malformed. */
    private static List<BtfType> readTypes(Btf btf, List<String> names) {
        List<BtfType> types = new ArrayList<>();
        try {
            for (int id = 0; id < btf.typeCount(); id++) {
                types.add(btf.type(id));
                names.add(btf.name(id));
                assertThat(btf.kind(id)).isEqualTo(types.getLast().kind());
            }
        } catch (MalformedDataException e) {
            assertThat(e.getMessage()).isNotBlank();
        }
        ByteView value = ByteView.of("value", new byte[64], btf.order());
        for (int id = 0; id < types.size(); id++) {
            try {
                assertThat(btf.kind(btf.resolve(id))).isNotIn(BtfKind.TYPEDEF, BtfKind.CONST, BtfKind.VOLATILE);
                assertThat(btf.size(id)).isNotNegative();
                if (id < 32) {
                    assertThat(TypedValue.text(btf, id, value)).isNotNull();
                }
            } catch (MalformedDataException e) {
                assertThat(e.getMessage()).isNotBlank();
            }
        }
        return types;
    }

    private static void write(Btf btf) throws IOException {
        StringBuilder header = new StringBuilder();
        try {
            CDeclarations.of(btf).write(header);
        } catch (MalformedDataException e) {
            assertThat(e.getMessage()).isNotBlank();
        }
    }

    private static void copy(Btf btf, List<BtfType> types) {
        if (types.size() < btf.typeCount()) {
            return;
        }
        BtfBuilder builder = BtfBuilder.from(btf);
        for (int id = btf.firstId(); id < btf.typeCount(); id++) {
            builder.set(id, types.get(id));
        }
        Btf again;
        try {
            again = builder.build("copy", btf.order());
        } catch (IllegalArgumentException e) {
            // Types are read with up to 2^24 members, which newer kernels have, and written with up to 2^16.
            assertThat(e).hasMessageContaining("more than 65535");
            return;
        }
        for (int id = btf.firstId(); id < btf.typeCount(); id++) {
            assertThat(again.type(id)).isEqualTo(types.get(id));
        }
    }

    @Override
    protected List<Growth> growths() {
        return List.of(
                new Growth("structs with one large member", count -> input(PLAIN, BtfSeeds.many(count))),
                new Growth("structs of one name", count -> input(PLAIN, BtfSeeds.namesakes(count))));
    }
}
