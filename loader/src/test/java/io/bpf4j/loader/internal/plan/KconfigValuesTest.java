package io.bpf4j.loader.internal.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.ScriptedLoads;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.ExternSpec.KconfigType;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.Specs;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.ScriptedHost;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.internal.linux.KernelConfig;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Which value of an option goes into which type of extern, and as which bytes; little-endian, so that they read alike.
 */
class KconfigValuesTest {
    /** Without a configuration. */
    private static final Host KERNEL = new ScriptedKernel().host();

    @TempDir
    Path folder;

    private static final BtfBuilder TYPES = BtfBuilder.create();
    private static final int BOOL = TYPES.integer("_Bool", 1, BtfType.Int.BOOL);
    private static final int CHAR = TYPES.integer("char", 1, BtfType.Int.SIGNED | BtfType.Int.CHAR);
    private static final int U8 = TYPES.integer("unsigned char", 1, 0);
    private static final int S16 = TYPES.integer("short", 2, BtfType.Int.SIGNED);
    private static final int U16 = TYPES.integer("unsigned short", 2, 0);
    private static final int S32 = TYPES.integer("int", 4, BtfType.Int.SIGNED);
    private static final int U32 = TYPES.integer("unsigned int", 4, 0);
    private static final int S64 = TYPES.integer("long long", 8, BtfType.Int.SIGNED);
    private static final int U64 = TYPES.integer("unsigned long long", 8, 0);
    private static final int TRISTATE = TYPES.add(new BtfType.Enum32("libbpf_tristate", 4, false, List.of()));
    private static final int WIDE_TRISTATE = TYPES.add(new BtfType.Enum64("libbpf_tristate", 8, false, List.of()));
    private static final int OTHER_ENUM = TYPES.add(new BtfType.Enum32("tristate", 4, false, List.of()));
    private static final int TEXT = TYPES.array(CHAR, S32, 6);
    private static final int NUMBERS = TYPES.array(U32, S32, 6);
    private static final int FLAGS = TYPES.array(BOOL, S32, 6);
    private static final int NOTHING = TYPES.array(CHAR, S32, 0);
    private static final int LONG_BOOL = TYPES.integer("long_bool", 4, BtfType.Int.BOOL);
    private static final int INT128 = TYPES.integer("__int128", 16, 0);
    private static final int POINTER = TYPES.pointer(S32);
    private static final int STRUCT = TYPES.struct("s", 4, BtfType.Member.at("a", S32, 0));
    private static final int TYPEDEF = TYPES.typedef("u8_t", TYPES.add(new BtfType.Const(U8)));

    private static int type(String name) {
        return switch (name) {
            case "bool" -> BOOL;
            case "char" -> CHAR;
            case "u8" -> U8;
            case "s16" -> S16;
            case "u16" -> U16;
            case "s32" -> S32;
            case "u32" -> U32;
            case "s64" -> S64;
            case "u64" -> U64;
            case "tristate" -> TRISTATE;
            case "wide tristate" -> WIDE_TRISTATE;
            case "text" -> TEXT;
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static ObjectSpec spec(String name, int type, boolean weak) {
        var btf = TYPES.build("test.o", ByteOrder.LITTLE_ENDIAN);
        return ScriptedLoads.spec(
                "test.o",
                List.of(),
                List.of(Specs.extern(ExternSpec.Kind.KCONFIG, name, weak, type, (int) btf.size(type))),
                btf);
    }

    /** A wrong guess would show in nothing but wrong values. */
    @Test
    void whetherSystemCallsHaveAWrapperIsNotGuessed() {
        Features unknown =
                Features.of(_ -> new Support.Unknown("read /proc/kallsyms", Errno.EACCES.number(), Optional.empty()));
        ObjectSpec wrapper = spec("LINUX_HAS_SYSCALL_WRAPPER", BOOL, false);
        assertThatThrownBy(() -> fill(wrapper, unknown, "", KERNEL))
                .isInstanceOf(SyscallException.class)
                .hasMessage("test.o: value of extern \"LINUX_HAS_SYSCALL_WRAPPER\": read /proc/kallsyms failed:"
                        + " EACCES (Permission denied)");
        ObjectSpec cookie = spec("LINUX_HAS_BPF_COOKIE", BOOL, false);
        assertThat(fill(cookie, unknown, "", KERNEL))
                .as("the verifier knows better")
                .containsExactly(1);
    }

    private Host configured(String options) {
        ScriptedHost.write(folder, "proc/sys/kernel/osrelease", "6.18.0");
        ScriptedHost.write(folder, "boot/config-6.18.0", options);
        return ScriptedHost.of(new ScriptedKernel(), folder);
    }

    private Host broken() {
        Path root = folder.resolve("broken");
        ScriptedHost.write(root, "proc/config.gz", "not in GZIP format");
        return ScriptedHost.of(new ScriptedKernel(), root);
    }

    private static byte[] fill(ObjectSpec spec, Features features, String given, Host host) {
        return fill(spec, features, given, host, Set.of());
    }

    private static byte[] fill(ObjectSpec spec, Features features, String given, Host host, Set<String> chosen) {
        int size = spec.externs().getFirst().size();
        return new KconfigValues(
                        host,
                        spec,
                        features,
                        given.isEmpty() ? Optional.empty() : Optional.of(KernelConfig.parse(given)))
                .fill(Specs.section(DataSection.KCONFIG, 0, size, true), chosen);
    }

    private static String value(String type, String option) {
        byte[] bytes =
                fill(spec("CONFIG_X", type(type), false), ScriptedLoads.everything(), "CONFIG_X=" + option, KERNEL);
        return HexFormat.of().formatHex(bytes);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "bool,          y,                    01",
                "bool,          n,                    00",
                "char,          y,                    79",
                "char,          m,                    6d",
                "u8,            n,                    6e",
                "char,          127,                  7f",
                "char,          -128,                 80",
                "u8,            255,                  ff",
                "tristate,      n,                    00000000",
                "tristate,      y,                    01000000",
                "tristate,      m,                    02000000",
                "wide tristate, m,                    0200000000000000",
                "s16,           -32768,               0080",
                "u16,           65535,                ffff",
                "u16,           0xffff,               ffff",
                "s32,           -1,                   ffffffff",
                "s32,           2147483647,           ffffff7f",
                "u32,           4294967295,           ffffffff",
                "u32,           0XFF,                 ff000000",
                "u32,           010,                  08000000",
                "u32,           +7,                   07000000",
                "s64,           -1,                   ffffffffffffffff",
                "u64,           18446744073709551615, ffffffffffffffff",
                "s64,           18446744073709551615, ffffffffffffffff",
                "text,          \"abc\",              616263000000",
                "text,          \"\",                 000000000000",
                "text,          \"abcde\",            616263646500",
                "text,          \"abcdefgh\",         616263646500",
            })
    void fits(String type, String option, String bytes) {
        assertThat(value(type, option)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "bool,     m,                    a bool",
                "bool,     1,                    a bool",
                "bool,     \"y\",                a bool",
                "char,     128,                  does not fit a char",
                "char,     -129,                 does not fit a char",
                "u8,       256,                  (unsigned)",
                "u8,       -1,                   (unsigned)",
                "s16,      32768,                integer of 2 bytes",
                "s16,      y,                    integer of 2 bytes",
                "u16,      65536,                integer of 2 bytes",
                "s32,      2147483648,           integer of 4 bytes",
                "s32,      -2147483649,          integer of 4 bytes",
                "u32,      -1,                   integer of 4 bytes",
                "u32,      n,                    integer of 4 bytes",
                "u64,      y,                    integer of 8 bytes",
                "u64,      18446744073709551616, integer of 8 bytes",
                "s32,      12x,                  integer of 4 bytes",
                "s32,      0x,                   integer of 4 bytes",
                "s32,      --1,                  integer of 4 bytes",
                "s32,      09,                   integer of 4 bytes",
                "s32,      yes,                  integer of 4 bytes",
                "s32,      \"1\",                integer of 4 bytes",
                "tristate, 1,                    enum libbpf_tristate",
                "tristate, \"y\",                enum libbpf_tristate",
                "text,     y,                    a text of 6 bytes",
                "text,     5,                    a text of 6 bytes",
                "text,     abc,                  a text of 6 bytes",
                "text,     \"abc,                a text of 6 bytes",
            })
    void doesNotFit(String type, String option, String reason) {
        assertThatThrownBy(() -> value(type, option))
                .isInstanceOf(RelocationException.class)
                .hasMessageContaining("CONFIG_X")
                .hasMessageContaining(option)
                .hasMessageContaining(reason);
    }

    @Test
    void typesThatAnExternMayHave() {
        var btf = TYPES.build("test.o", ByteOrder.LITTLE_ENDIAN);
        assertThat(KconfigType.of(btf, TYPEDEF)).contains(KconfigType.CHAR);
        assertThat(KconfigType.of(btf, S64)).contains(KconfigType.INTEGER);
        for (int no : new int[] {OTHER_ENUM, NUMBERS, FLAGS, NOTHING, LONG_BOOL, INT128, POINTER, STRUCT}) {
            assertThat(KconfigType.of(btf, no)).as("type %s", btf.type(no)).isEmpty();
        }
    }

    @Test
    void whatTheLoaderKnowsGoesIntoNumbersAndFlags() {
        Features all = ScriptedLoads.everything();
        Features old = all.without(Feature.BPF_COOKIE, Feature.SYSCALL_WRAPPER);
        assertThat(fill(spec("LINUX_HAS_BPF_COOKIE", BOOL, true), all, "", KERNEL))
                .containsExactly(1);
        assertThat(fill(spec("LINUX_HAS_BPF_COOKIE", BOOL, true), old, "", KERNEL))
                .containsExactly(0);
        assertThat(fill(spec("LINUX_HAS_SYSCALL_WRAPPER", U16, false), all, "", KERNEL))
                .containsExactly(1, 0);
        assertThat(fill(spec("LINUX_HAS_SYSCALL_WRAPPER", U16, false), old, "", KERNEL))
                .containsExactly(0, 0);
        int version = KERNEL.version().code();
        assertThat(fill(spec("LINUX_ELF_MACHINE", U32, true), all, "", KERNEL))
                .isEqualTo(ByteBuffer.allocate(4)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putInt(KconfigValues.elfMachine(System.getProperty("os.arch")))
                        .array());
        assertThat(List.of("amd64", "aarch64", "riscv64", "s390x", "loongarch64"))
                .extracting(KconfigValues::elfMachine)
                .containsExactly(62, 183, 243, 22, 258);
        assertThat(fill(spec("LINUX_KERNEL_VERSION", S32, false), all, "", KERNEL))
                .containsExactly(version, version >> 8, version >> 16, 0);
        assertThatThrownBy(() -> fill(spec("LINUX_KERNEL_VERSION", BOOL, false), all, "", KERNEL))
                .hasMessageContaining("a bool");
        assertThatThrownBy(() -> fill(spec("LINUX_KERNEL_VERSION", U16, false), all, "", KERNEL))
                .hasMessageContaining("does not fit");
        assertThatThrownBy(() -> fill(spec("LINUX_HAS_BPF_COOKIE", TRISTATE, true), all, "", KERNEL))
                .hasMessageContaining("libbpf_tristate");
    }

    @Test
    void whatTheEmbedderSetsNeedNotBeKnown() {
        Features all = ScriptedLoads.everything();
        assertThat(fill(spec("CONFIG_X", U32, false), all, "", broken(), Set.of("CONFIG_X")))
                .containsOnly(0);
    }

    @Test
    void whatIsUnknownIsZeroIfWeakAndElseAnError() {
        Features all = ScriptedLoads.everything();
        Host unset = configured("CONFIG_Y=y");
        Host broken = broken();
        for (Host source : List.of(KERNEL, unset, broken)) {
            assertThat(fill(spec("CONFIG_X", U32, true), all, "", source)).containsOnly(0);
            assertThatThrownBy(() -> fill(spec("CONFIG_X", U32, false), all, "", source))
                    .isInstanceOf(RelocationException.class)
                    .hasMessageContaining("CONFIG_X")
                    .hasMessageContaining("__weak");
        }
        assertThatThrownBy(() -> fill(spec("CONFIG_X", U32, false), all, "", unset))
                .hasMessageContaining("does not set");
        assertThatThrownBy(() -> fill(spec("CONFIG_X", U32, false), all, "", broken))
                .hasMessageContaining("GZIP")
                .hasCauseInstanceOf(IOException.class);
        assertThatThrownBy(() -> fill(spec("CONFIG_X", U32, false), all, "", KERNEL))
                .hasMessageContaining("BpfLoader.kconfig");
        assertThat(fill(spec("LINUX_OF_TOMORROW", U32, true), all, "", broken)).containsOnly(0);
        assertThatThrownBy(() -> fill(spec("LINUX_OF_TOMORROW", U32, false), all, "", broken))
                .hasMessageContaining("does not know");
    }

    @Test
    void weakIsNoLicenceForAValueOfAnotherType() {
        assertThatThrownBy(() ->
                        fill(spec("CONFIG_X", BOOL, true), ScriptedLoads.everything(), "", configured("CONFIG_X=250")))
                .hasMessageContaining("250");
    }

    @Test
    void whatIsGivenComesBeforeTheKernels() {
        Host kernel = configured("CONFIG_X=1\nCONFIG_Z=2");
        Features all = ScriptedLoads.everything();
        assertThat(fill(spec("CONFIG_X", U8, false), all, "CONFIG_X=3\nCONFIG_X=4", kernel))
                .containsExactly(3);
        assertThat(fill(spec("CONFIG_Z", U8, false), all, "CONFIG_X=3", kernel)).containsExactly(2);
        assertThat(fill(spec("CONFIG_X", U8, false), all, "# CONFIG_Y is not set\n\n  CONFIG_X=5  \n", KERNEL))
                .containsExactly(5);
    }

    @ParameterizedTest
    @CsvSource({"HZ=250", "CONFIG_HZ", "CONFIG_HZ=", "CONFIG_HZ 250"})
    void whatIsGivenIsCheckedAtOnce(String line) {
        assertThatThrownBy(() -> KernelConfig.parse("CONFIG_A=y\n" + line))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("line 2")
                .hasMessageContaining(line);
    }

    @Test
    void textIsInUtf8() {
        assertThat(value("text", "\"ä\"")).isEqualTo("c3a400000000");
        assertThat("ä".getBytes(StandardCharsets.UTF_8)).hasSize(2);
    }
}
