package io.bpf4j.btf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Reading and writing BTF: every kind, both byte orders, split BTF, the running kernel's own. */
class BtfTest {
    static Stream<ByteOrder> orders() {
        return Stream.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN);
    }

    /** One type of each kind; the ids are the positions in the list, from 1. */
    private static List<BtfType> everyKind() {
        return List.of(
                BtfType.Int.of("int", 4, BtfType.Int.SIGNED),
                new BtfType.Ptr(1),
                new BtfType.Array(1, 1, 7),
                new BtfType.Struct(
                        "pair", 8, List.of(BtfType.Member.at("a", 1, 0), new BtfType.Member("bits", 1, 32, 3))),
                new BtfType.Union("either", 8, List.of(BtfType.Member.at("x", 1, 0), BtfType.Member.at("y", 2, 0))),
                new BtfType.Enum32("e", 4, true, List.of(new BtfType.EnumValue("MINUS", -1))),
                new BtfType.Fwd("later", false),
                new BtfType.Typedef("number", 1),
                new BtfType.Volatile(8),
                new BtfType.Const(9),
                new BtfType.Restrict(2),
                new BtfType.FuncProto(1, List.of(new BtfType.Parameter("p", 2), new BtfType.Parameter("", 0))),
                new BtfType.Func("f", 12, BtfType.Linkage.GLOBAL),
                new BtfType.Var("v", 10, BtfType.Linkage.GLOBAL),
                new BtfType.Datasec(".data", 4, List.of(new BtfType.SectionVariable(14, 0, 4))),
                new BtfType.FloatingPoint("double", 8),
                new BtfType.DeclTag("tag", 4, -1, false),
                new BtfType.TypeTag("user", 1, false),
                new BtfType.Enum64("big", 8, false, List.of(new BtfType.EnumValue("TOP", 0xfedcba9876543210L))));
    }

    private static BtfBuilder builder() {
        BtfBuilder builder = BtfBuilder.create();
        everyKind().forEach(builder::add);
        return builder;
    }

    @ParameterizedTest
    @MethodSource("orders")
    void everyKindComesBackAsItWasWritten(ByteOrder order) {
        Btf btf = builder().build("test", order);

        List<BtfType> written = everyKind();
        assertThat(btf.typeCount()).isEqualTo(written.size() + 1);
        assertThat(btf.order()).isEqualTo(order);
        for (int i = 0; i < written.size(); i++) {
            assertThat(btf.type(i + 1)).as("type %d", i + 1).isEqualTo(written.get(i));
        }
        assertThat(btf.type(0)).isInstanceOf(BtfType.VoidType.class);
    }

    @Test
    void aHeaderIsTheKernelsWords() {
        byte[] bytes = BtfBuilder.create().toBytes(ByteOrder.LITTLE_ENDIAN);

        // struct btf_header (include/uapi/linux/btf.h): magic eb9f, version 1, flags, header length 24, type part,
        // string part, which holds the empty string.
        assertThat(bytes).startsWith(0x9f, 0xeb, 1, 0, 24, 0, 0, 0).hasSize(25).endsWith(0);
    }

    @ParameterizedTest
    @MethodSource("orders")
    void sizesAndNames(ByteOrder order) {
        Btf btf = builder().build("test", order);

        assertThat(btf.size(1)).isEqualTo(4);
        assertThat(btf.size(3)).isEqualTo(28);
        assertThat(btf.size(4)).isEqualTo(8);
        assertThat(btf.size(10)).as("const volatile number").isEqualTo(4);
        assertThat(btf.size(2)).isEqualTo(btf.pointerSize());
        assertThat(btf.resolve(10)).isEqualTo(1);
        assertThat(btf.find("pair", BtfKind.STRUCT)).hasValue(4);
        assertThat(btf.find("pair", BtfKind.UNION)).isEmpty();
        assertThat(btf.idsNamed("no such type")).isEmpty();
        assertThat(btf.find(".data", BtfKind.DATASEC)).hasValue(15);
    }

    @ParameterizedTest
    @MethodSource("orders")
    void splitBtfContinuesItsBase(ByteOrder order) {
        Btf base = builder().build("base", order);
        BtfBuilder more = BtfBuilder.split(base);
        int id = more.struct("own", 8, BtfType.Member.at("p", 4, 0));
        Btf split = Btf.parse(ByteView.of("split", more.toBytes(order), order), base);

        assertThat(id).isEqualTo(base.typeCount());
        assertThat(split.firstId()).isEqualTo(id);
        assertThat(split.type(id)).isEqualTo(new BtfType.Struct("own", 8, List.of(BtfType.Member.at("p", 4, 0))));
        assertThat(split.type(4).name()).isEqualTo("pair");
        assertThat(split.find("own", BtfKind.STRUCT)).hasValue(id);
    }

    @Test
    void typesAreReplacedInPlaceAndStringsKeepTheirOffsets() {
        Btf original = builder().build("test", ByteOrder.LITTLE_ENDIAN);
        BtfBuilder edited = BtfBuilder.from(original);
        edited.set(16, new BtfType.Struct("", 8, List.of()));
        Btf after = edited.build("after", ByteOrder.LITTLE_ENDIAN);

        assertThat(after.type(16)).isInstanceOf(BtfType.Struct.class);
        assertThat(after.type(4)).isEqualTo(original.type(4));
        assertThat(after.string(edited.string("pair"))).isEqualTo("pair");
    }

    @Test
    void cyclesEnd() {
        BtfBuilder builder = BtfBuilder.create();
        builder.add(new BtfType.Typedef("a", 2));
        builder.add(new BtfType.Const(1));
        Btf btf = builder.build("cyclic", ByteOrder.LITTLE_ENDIAN);

        assertThatThrownBy(() -> btf.resolve(1)).isInstanceOf(MalformedDataException.class);
        assertThatThrownBy(() -> btf.size(1)).isInstanceOf(MalformedDataException.class);
    }

    @Test
    void idsAndNamesOutOfRange() {
        BtfBuilder builder = BtfBuilder.create();
        builder.pointer(99);
        Btf btf = builder.build("dangling", ByteOrder.LITTLE_ENDIAN);

        assertThatThrownBy(() -> btf.type(1)).isInstanceOf(MalformedDataException.class);
        assertThatThrownBy(() -> btf.type(2)).isInstanceOf(MalformedDataException.class);
        assertThatThrownBy(() -> btf.type(-1)).isInstanceOf(MalformedDataException.class);
        assertThatThrownBy(() -> btf.string(1 << 20)).isInstanceOf(MalformedDataException.class);
    }

    @ParameterizedTest
    @MethodSource("orders")
    void cutShortOrWithABitTurnedOver(ByteOrder order) {
        byte[] whole = builder().toBytes(order);
        int refused = 0;
        for (int length = 0; length < whole.length; length++) {
            refused += readsAll(java.util.Arrays.copyOf(whole, length), order) ? 0 : 1;
        }
        assertThat(refused).isEqualTo(whole.length);
        for (int bit = 0; bit < whole.length * 8; bit++) {
            whole[bit / 8] ^= (byte) (1 << bit % 8);
            refused += readsAll(whole, order) ? 0 : 1;
            whole[bit / 8] ^= (byte) (1 << bit % 8);
        }
        assertThat(refused).isGreaterThan(whole.length * 2);
    }

    /** Reads every type and its size; anything but {@link MalformedDataException} fails the test. */
    private static boolean readsAll(byte[] bytes, ByteOrder order) {
        try {
            Btf btf = Btf.parse(ByteView.of("broken", bytes, order));
            List<Long> sizes = new ArrayList<>();
            for (int id = 0; id < btf.typeCount(); id++) {
                BtfType type = btf.type(id);
                if (type instanceof BtfType.Composite || type instanceof BtfType.Modifier) {
                    sizes.add(btf.size(id));
                }
            }
            return btf.find("pair", BtfKind.STRUCT).isPresent() || !sizes.isEmpty();
        } catch (MalformedDataException e) {
            assertThat(e.source()).isEqualTo("broken");
            return false;
        }
    }

    /** Three tables, each with one record of one section. */
    private record Extension(int section, int function, int line, int relocation, List<Integer> recordSizes) {
        static final List<Integer> SIZES = List.of(8, 16, 16);

        /**
         * struct btf_ext_header of 32 bytes, then func_info, line_info and core_relo, each: u32 record size, and per
         * section u32 name, u32 count, records. What is longer than known is filled with 0x7f7f7f7f.
         */
        byte[] bytes(int access) {
            int[][] records = {{function, 13}, {line, 0, 0, 5 << 10 | 3}, {relocation, 4, access, 2}};
            ByteBuffer ext = ByteBuffer.allocate(2048).order(ByteOrder.LITTLE_ENDIAN);
            ext.putShort((short) 0xeb9f).put((byte) 1).put((byte) 0).putInt(32);
            int start = 0;
            for (int size : recordSizes) {
                ext.putInt(start).putInt(12 + size);
                start += 12 + size;
            }
            for (int i = 0; i < records.length; i++) {
                ext.putInt(recordSizes.get(i)).putInt(section).putInt(1);
                for (int at = 0; at < recordSizes.get(i) / 4; at++) {
                    ext.putInt(at < records[i].length ? records[i][at] : 0x7f7f7f7f);
                }
            }
            return java.util.Arrays.copyOf(ext.array(), ext.position());
        }
    }

    private static BtfExt parsed(Btf btf, byte[] bytes) {
        return BtfExt.parse(ByteView.of("ext", bytes, ByteOrder.LITTLE_ENDIAN), btf);
    }

    @Test
    void extensionSections() {
        BtfBuilder builder = builder();
        int section = builder.string("usdt");
        int access = builder.string("0:1");
        Btf btf = builder.build("test", ByteOrder.LITTLE_ENDIAN);
        // As compilers write them, and with fields that are not known here.
        for (List<Integer> sizes : List.of(Extension.SIZES, List.of(12, 20, 252))) {
            byte[] bytes = new Extension(section, 0, 8, 16, sizes).bytes(access);

            BtfExt read = parsed(btf, bytes);

            assertThat(read.functions().of("usdt")).containsExactly(new BtfExt.FuncInfo(0, 13));
            assertThat(read.functions().recordSize()).isEqualTo(sizes.getFirst());
            assertThat(read.lines().of("usdt")).singleElement().satisfies(line -> {
                assertThat(line.line()).isEqualTo(5);
                assertThat(line.column()).isEqualTo(3);
            });
            assertThat(read.relocations().of("usdt")).containsExactly(new BtfExt.CoreRelocation(16, 4, access, 2));
            assertThat(read.functions().of("other")).isEmpty();
            for (int length = 0; length < bytes.length; length++) {
                byte[] cut = java.util.Arrays.copyOf(bytes, length);
                assertThatThrownBy(() -> parsed(btf, cut)).isInstanceOf(MalformedDataException.class);
            }
        }
    }

    /** A table may have several lists for one ELF section. */
    @Test
    void extensionSectionsOfOneName() {
        BtfBuilder builder = builder();
        int twice = builder.string("twice");
        int once = builder.string("once");
        Btf btf = builder.build("test", ByteOrder.LITTLE_ENDIAN);
        ByteBuffer ext = ByteBuffer.allocate(24 + 4 + 3 * 16).order(ByteOrder.LITTLE_ENDIAN);
        ext.putShort((short) 0xeb9f).put((byte) 1).put((byte) 0).putInt(24);
        ext.putInt(0).putInt(4 + 3 * 16).putInt(0).putInt(0);
        ext.putInt(8);
        ext.putInt(twice).putInt(1).putInt(0).putInt(7);
        ext.putInt(once).putInt(1).putInt(0).putInt(8);
        ext.putInt(twice).putInt(1).putInt(16).putInt(9);

        BtfExt.Table<BtfExt.FuncInfo> functions = parsed(btf, ext.array()).functions();

        assertThat(functions.sections()).extracting(BtfExt.Section::name).containsExactly("twice", "once", "twice");
        assertThat(functions.of("twice")).containsExactly(new BtfExt.FuncInfo(0, 7), new BtfExt.FuncInfo(16, 9));
        assertThat(functions.of("once")).containsExactly(new BtfExt.FuncInfo(0, 8));
    }

    @Test
    void extensionsOfNoSectionAreRefused() {
        Btf btf = builder().build("test", ByteOrder.LITTLE_ENDIAN);
        assertThatThrownBy(() -> parsed(btf, new Extension(0, 0, 0, 0, Extension.SIZES).bytes(0)))
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("an empty section name");
    }

    @Test
    void extensionsOfNoInstructionAreRefused() {
        BtfBuilder builder = builder();
        int section = builder.string("usdt");
        Btf btf = builder.build("test", ByteOrder.LITTLE_ENDIAN);
        for (int[] offsets : new int[][] {{4, 0, 0}, {0, 12, 0}, {0, 0, 17}}) {
            byte[] bytes = new Extension(section, offsets[0], offsets[1], offsets[2], Extension.SIZES).bytes(0);
            assertThatThrownBy(() -> parsed(btf, bytes))
                    .isInstanceOf(MalformedDataException.class)
                    .hasMessageContaining("section \"usdt\", where no instruction begins");
        }
    }

    @Test
    void recordSizesThatNoCompilerWritesAreRefused() {
        BtfBuilder builder = builder();
        int section = builder.string("usdt");
        Btf btf = builder.build("test", ByteOrder.LITTLE_ENDIAN);
        for (int table = 0; table < 3; table++) {
            for (int wrong : new int[] {0, Extension.SIZES.get(table) - 4, Extension.SIZES.get(table) + 2, 256, -8}) {
                byte[] bytes = new Extension(section, 0, 0, 0, Extension.SIZES).bytes(0);
                int start = 32;
                for (int before = 0; before < table; before++) {
                    start += 12 + Extension.SIZES.get(before);
                }
                ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(start, wrong);
                assertThatThrownBy(() -> parsed(btf, bytes))
                        .isInstanceOf(MalformedDataException.class)
                        .hasMessageContaining("records of " + Integer.toUnsignedString(wrong) + " bytes");
            }
        }
    }
}
