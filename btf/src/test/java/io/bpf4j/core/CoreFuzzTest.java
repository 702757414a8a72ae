package io.bpf4j.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfExt;
import io.bpf4j.btf.BtfSeeds;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Instruction;
import io.bpf4j.test.fuzz.FuzzTarget;
import io.bpf4j.test.fuzz.Limits;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Any relocations by any types against any types of a kernel give a fixup, or are refused. The part of the kernel's
 * types that is kept for them gives the same fixups.
 *
 * <p>An input is the object's BTF, the kernel's, and the relocations: 8 bytes each, the numbers of the type, the
 * instruction and the kind, and the offset of the access string.
 */
class CoreFuzzTest extends FuzzTarget {
    private static final int MAX_RELOCATIONS = 32;

    private static final List<List<Instruction>> CODE = List.of(
            Assembler.create().mov(1, 4).assemble(),
            Assembler.create().loadImm64(1, 8).assemble(),
            Assembler.create().ldx(8, 1, 2, 8).assemble(),
            Assembler.create().ldx(4, 1, 2, 0).assemble());

    @Override
    protected List<byte[]> seeds() {
        return List.of(
                seed(ByteOrder.LITTLE_ENDIAN),
                seed(ByteOrder.BIG_ENDIAN),
                eachType(CoreRelocationKind.TYPE_MATCHES),
                eachType(CoreRelocationKind.TYPE_SIZE),
                eachType(CoreRelocationKind.TYPE_ID_TARGET));
    }

    /** Types of every kind, and prototypes with pointers to them, against themselves. */
    private static byte[] eachType(CoreRelocationKind kind) {
        BtfBuilder types = BtfSeeds.everyKind();
        int zero = types.string("0");
        int proto = types.add(new BtfType.FuncProto(
                2,
                List.of(new BtfType.Parameter("a", types.pointer(5)), new BtfType.Parameter("b", types.pointer(6)))));
        types.typedef("callback", types.pointer(proto));
        types.struct("ops", 24, BtfType.Member.at("call", types.pointer(proto), 0), BtfType.Member.at("e", 6, 8));
        int count = types.nextId() - 1;
        ByteBuffer relocations = ByteBuffer.allocate(8 * count).order(ByteOrder.LITTLE_ENDIAN);
        for (int type = 1; type <= count; type++) {
            relocations
                    .putShort((short) type)
                    .put((byte) 0)
                    .put((byte) kind.number())
                    .putInt(zero);
        }
        byte[] all = types.toBytes(ByteOrder.LITTLE_ENDIAN);
        return joined(all, all, relocations.array());
    }

    private static byte[] seed(ByteOrder order) {
        BtfBuilder local = BtfSeeds.everyKind();
        int task = local.struct("pair___mine", 16, BtfType.Member.at("a", 1, 0), BtfType.Member.at("next", 2, 8));
        int[] types = {task, 4, 4, 4, 6, 19, 8};
        String[] accesses = {"0:1", "0:0", "0:1", "0", "0", "0", "0"};
        int[] kinds = {0, 1, 4, 8, 10, 11, 12};
        ByteBuffer relocations = ByteBuffer.allocate(8 * types.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < types.length; i++) {
            relocations
                    .putShort((short) types[i])
                    .put((byte) (i % CODE.size()))
                    .put((byte) kinds[i])
                    .putInt(local.string(accesses[i]));
        }
        BtfBuilder kernel = BtfBuilder.create();
        int added = kernel.integer("long int", 8, BtfType.Int.SIGNED);
        int number = kernel.integer("int", 4, BtfType.Int.SIGNED);
        int pointer = kernel.pointer(4);
        kernel.struct(
                "pair",
                24,
                BtfType.Member.at("added", added, 0),
                BtfType.Member.at("next", pointer, 8),
                BtfType.Member.at("a", number, 16),
                new BtfType.Member("bits", number, 160, 5));
        kernel.add(new BtfType.Enum32("e", 4, true, List.of(new BtfType.EnumValue("MINUS", -7))));
        kernel.typedef("number", number);
        return joined(local.toBytes(order), kernel.toBytes(order), relocations.array());
    }

    @Override
    protected List<String> words() {
        return List.of("0:0", "0:1:2", "0", "___mine", "pair");
    }

    /** Types may be compared with each other as often as the budget of an object allows, which is not by its size. */
    @Override
    protected Limits limits() {
        return Limits.USUAL.withExecutions(300).withBytes(16 << 20, 20_000).withSteps(5_000_000, 20_000);
    }

    @Override
    protected void read(byte[] input) {
        byte[][] parts = parts(input, 3);
        Btf local;
        Btf kernel;
        try {
            local = Btf.parse(ByteView.of("object", parts[0], ByteOrder.LITTLE_ENDIAN));
            kernel = Btf.parse(ByteView.of("kernel", parts[1], ByteOrder.LITTLE_ENDIAN));
        } catch (MalformedDataException e) {
            return;
        }
        ByteBuffer bytes = ByteBuffer.wrap(parts[2]).order(ByteOrder.LITTLE_ENDIAN);
        List<BtfExt.CoreRelocation> relocations = new ArrayList<>();
        List<List<Instruction>> code = new ArrayList<>();
        while (bytes.remaining() >= 8 && relocations.size() < MAX_RELOCATIONS) {
            int type = bytes.getShort();
            code.add(CODE.get(Byte.toUnsignedInt(bytes.get()) % CODE.size()));
            int kind = bytes.get();
            relocations.add(new BtfExt.CoreRelocation(0, type, bytes.getInt(), kind));
        }
        Optional<List<CoreFixup>> fixups = fixups(local, kernel, relocations, code);
        Optional<Btf> minimal = minimal(local, kernel, relocations);
        if (fixups.isPresent() && minimal.isPresent() && minimal.get().pointerSize() == kernel.pointerSize()) {
            List<CoreFixup> again =
                    fixups(local, minimal.get(), relocations, code).orElseThrow();
            for (int i = 0; i < again.size(); i++) {
                if (relocations.get(i).kind() != CoreRelocationKind.TYPE_ID_TARGET.number()) {
                    assertThat(withoutReason(again.get(i)))
                            .as(CoreRelocator.describe(local, relocations.get(i)))
                            .isEqualTo(withoutReason(fixups.get().get(i)));
                }
            }
        }
    }

    /** A reason names the types that it is about. */
    private static CoreFixup withoutReason(CoreFixup fixup) {
        return fixup instanceof CoreFixup.Poison poison ? new CoreFixup.Poison(poison.slots(), "") : fixup;
    }

    private static Optional<List<CoreFixup>> fixups(
            Btf local, Btf kernel, List<BtfExt.CoreRelocation> relocations, List<List<Instruction>> code) {
        CoreRelocator relocator = new CoreRelocator(local, CoreTarget.of(kernel));
        List<CoreFixup> fixups = new ArrayList<>();
        boolean all = true;
        for (int i = 0; i < relocations.size(); i++) {
            try {
                CoreFixup fixup = relocator.relocate(relocations.get(i), code.get(i), 0);
                int slots = switch (fixup) {
                    case CoreFixup.Keep _ -> code.get(i).size();
                    case CoreFixup.Patch patch -> patch.slots().size();
                    case CoreFixup.Poison poison -> poison.slots().size();
                };
                assertThat(slots).isEqualTo(code.get(i).size());
                fixups.add(fixup);
            } catch (CoreException | MalformedDataException e) {
                assertThat(e.getMessage()).isNotBlank();
                all = false;
            }
        }
        return all ? Optional.of(fixups) : Optional.empty();
    }

    private static Optional<Btf> minimal(Btf local, Btf kernel, List<BtfExt.CoreRelocation> relocations) {
        MinimalBtf minimal = new MinimalBtf(kernel);
        try {
            minimal.add(local, relocations);
            return Optional.of(minimal.build());
        } catch (CoreException | MalformedDataException e) {
            assertThat(e.getMessage()).isNotBlank();
            return Optional.empty();
        }
    }

    @Override
    protected List<Growth> growths() {
        return List.of(
                new Growth("candidates of one name", count -> {
                    byte[] types = BtfSeeds.namesakes(count);
                    return joined(types, types, relocation(2));
                }),
                new Growth("members", count -> {
                    byte[] types = BtfSeeds.many(count);
                    return joined(types, types, relocation(2));
                }));
    }

    /** The existence of a type. */
    private static byte[] relocation(int type) {
        return ByteBuffer.allocate(8)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putShort((short) type)
                .put((byte) 0)
                .put((byte) CoreRelocationKind.TYPE_EXISTS.number())
                .putInt(BtfSeeds.ZERO)
                .array();
    }
}
