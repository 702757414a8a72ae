package io.bpf4j.loader.internal.plan;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.ElfHeader;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.ExternSpec.KconfigType;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.Struct;
import io.bpf4j.sys.internal.linux.KernelConfig;
import io.bpf4j.sys.kernel.Feature;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Values of {@code __kconfig} externs: options of the kernel's configuration, and names that only loaders define.
 *
 * <pre>
 *   LINUX_KERNEL_VERSION        major &lt;&lt; 16 | minor &lt;&lt; 8 | min(patch, 255)
 *   LINUX_HAS_BPF_COOKIE        whether bpf_get_attach_cookie() exists; usdt.bpf.h uses it
 *   LINUX_HAS_SYSCALL_WRAPPER   whether system calls are entered with one pt_regs argument
 *   LINUX_ELF_MACHINE           the machine that runs, as e_machine of ELF headers numbers it: 62 x86-64, 183 arm64,
 *                               243 riscv64, 22 s390x, 258 loongarch64. So a program can look up a register by its
 *                               name in one object for all machines; libbpf does not know the name and leaves 0
 *   CONFIG_…                    y, m, n, a number or text, for externs as {@link KconfigType} has them
 * </pre>
 *
 * A weak extern is 0 if its option is not set, or if its name is not an option and this loader does not define it:
 * later loaders may define more. A value that does not fit the extern's type is an error, also for a weak extern.
 *
 * <p><i>Confined.</i>
 */
final class KconfigValues {
    /**
     * The texts of an option with three states; their indices are TRI_NO, TRI_YES and TRI_MODULE of libbpf_tristate.
     */
    private static final String NO_YES_MODULE = "nym";

    private final ObjectSpec spec;
    private final Features features;
    private final Optional<KernelConfig> given;
    private final Host host;
    private @Nullable KernelConfig config;
    private @Nullable IOException unreadable;
    private boolean configRead;

    /**
     * Values for an object.
     *
     * @param given options that override those of the machine's kernel
     */
    KconfigValues(Host host, ObjectSpec spec, Features features, Optional<KernelConfig> given) {
        this.spec = spec;
        this.features = features;
        this.given = given;
        this.host = host;
    }

    /**
     * The bytes of the {@code .kconfig} map.
     *
     * @param chosen externs whose values the embedder sets; they are not looked up
     */
    byte[] fill(DataSection section, Set<String> chosen) {
        ByteBuffer bytes = ByteBuffer.wrap(section.initial()).order(spec.order());
        for (ExternSpec extern : spec.externs()) {
            if (extern.kind() == ExternSpec.Kind.KCONFIG && !chosen.contains(extern.name())) {
                set(bytes, extern);
            }
        }
        return bytes.array();
    }

    private void set(ByteBuffer bytes, ExternSpec extern) {
        KconfigType type = KconfigType.of(types(), extern.typeId())
                .orElseThrow(() -> new InvalidObjectException(spec.source() + ": extern \"" + extern.name()
                        + "\" has a type that no kernel option can have"));
        Optional<String> value = switch (extern.name()) {
            case "LINUX_KERNEL_VERSION" -> loaderValue(type, host.version().code());
            // As with every feature that code depends on: if the probe has no result, the verifier decides.
            case "LINUX_HAS_BPF_COOKIE" -> loaderValue(type, features.lacks(Feature.BPF_COOKIE) ? 0 : 1);
            case "LINUX_ELF_MACHINE" -> loaderValue(type, elfMachine(System.getProperty("os.arch", "")));
            case "LINUX_HAS_SYSCALL_WRAPPER" -> loaderValue(type, hasSyscallWrapper(extern) ? 1 : 0);
            default -> option(extern);
        };
        if (value.isPresent()) {
            encode(bytes, extern, type, value.get());
        }
    }

    /** A value that the loader defines. Unlike a number of the configuration, 0 and 1 may be stored in a bool. */
    private static Optional<String> loaderValue(KconfigType type, long value) {
        boolean bool = type == KconfigType.BOOL && (value == 0 || value == 1);
        return Optional.of(bool ? NO_YES_MODULE.substring((int) value, (int) value + 1) : Long.toString(value));
    }

    /** No later call would detect a wrong value, and the program would read its arguments from the wrong registers. */
    private boolean hasSyscallWrapper(ExternSpec extern) {
        return switch (features.support(Feature.SYSCALL_WRAPPER)) {
            case Support.Present _ -> true;
            case Support.Absent _ -> false;
            case Support.Unknown unknown ->
                throw unknown.failure(spec.source() + ": value of extern \"" + extern.name() + "\"");
        };
    }

    /** The machines that {@code io.bpf4j.sys} supports; no program can be loaded on others. */
    static int elfMachine(String osArch) {
        return switch (osArch) {
            case "amd64", "x86_64" -> ElfHeader.EM_X86_64;
            case "aarch64" -> ElfHeader.EM_AARCH64;
            case "riscv64" -> ElfHeader.EM_RISCV;
            case "s390x" -> ElfHeader.EM_S390;
            case "loongarch64" -> ElfHeader.EM_LOONGARCH;
            default -> throw new UnsupportedOperationException("bpf4j does not know the machine " + osArch);
        };
    }

    private Btf types() {
        return spec.btf().orElseThrow();
    }

    /** Empty for a weak extern whose option is not set. */
    private Optional<String> option(ExternSpec extern) {
        Optional<String> value = given.flatMap(c -> c.value(extern.name()));
        if (value.isEmpty() && extern.name().startsWith("CONFIG_")) {
            value = Optional.ofNullable(config()).flatMap(c -> c.value(extern.name()));
        }
        if (value.isEmpty() && !extern.weak()) {
            throw missing(extern);
        }
        return value;
    }

    private void encode(ByteBuffer bytes, ExternSpec extern, KconfigType type, String text) {
        int letter = text.length() == 1 ? NO_YES_MODULE.indexOf(text) : -1;
        if (type == KconfigType.TEXT) {
            text(bytes, extern, type, text);
        } else if (type == KconfigType.CHAR && letter >= 0) {
            put(bytes, extern, text.charAt(0));
        } else if (type == KconfigType.CHAR || type == KconfigType.INTEGER) {
            number(bytes, extern, type, parse(extern, type, text), text);
        } else if (letter >= 0 && letter <= (type == KconfigType.BOOL ? 1 : 2)) {
            put(bytes, extern, letter);
        } else {
            throw invalid(extern, text, type);
        }
    }

    private void text(ByteBuffer bytes, ExternSpec extern, KconfigType type, String text) {
        if (text.length() < 2 || !text.startsWith("\"") || !text.endsWith("\"")) {
            throw invalid(extern, text, type);
        }
        byte[] encoded = text.substring(1, text.length() - 1).getBytes(StandardCharsets.UTF_8);
        int maxBytes = extern.size() - 1;
        if (encoded.length > maxBytes) {
            // Always with the terminating NUL: programs copy the value as a string.
            LoaderLog.warn(spec.source() + ": the kernel option " + extern.name() + " has " + encoded.length
                    + " bytes, of which the object gets the first " + maxBytes);
        }
        bytes.put(extern.offset(), encoded, 0, Math.min(encoded.length, maxBytes));
    }

    /**
     * As C's strtoull reads it: decimal, octal with a leading 0, or hexadecimal with 0x; negative numbers in two's
     * complement.
     */
    private long parse(ExternSpec extern, KconfigType type, String text) {
        boolean negative = text.startsWith("-");
        String digits = negative || text.startsWith("+") ? text.substring(1) : text;
        int radix = 10;
        if (digits.startsWith("0x") || digits.startsWith("0X")) {
            radix = 16;
            digits = digits.substring(2);
        } else if (digits.length() > 1 && digits.startsWith("0")) {
            radix = 8;
        }
        if (digits.isEmpty() || Character.digit(digits.charAt(0), radix) < 0) {
            throw invalid(extern, text, type);
        }
        try {
            long value = Long.parseUnsignedLong(digits, radix);
            return negative ? -value : value;
        } catch (NumberFormatException e) {
            throw invalid(extern, text, type);
        }
    }

    private void number(ByteBuffer bytes, ExternSpec extern, KconfigType type, long value, String text) {
        int bits = extern.size() * 8;
        boolean signed = types().type(types().resolve(extern.typeId())) instanceof BtfType.Int i && i.isSigned();
        // In 8 bytes every 64-bit pattern is a value, whatever the sign.
        boolean fits =
                bits == 64 || (signed ? value >= -(1L << (bits - 1)) && value < 1L << (bits - 1) : value >>> bits == 0);
        if (!fits) {
            throw new RelocationException(spec.source() + ": the kernel option " + extern.name() + " is " + text
                    + ", which does not fit " + describe(extern, type)
                    + (signed ? "" : " (unsigned)"));
        }
        put(bytes, extern, value);
    }

    private static void put(ByteBuffer bytes, ExternSpec extern, long value) {
        Struct.put(bytes, extern.offset(), extern.size(), value);
    }

    private RelocationException missing(ExternSpec extern) {
        String advice = "; declare it __weak if the object works without it";
        if (!extern.name().startsWith("CONFIG_")) {
            return new RelocationException(spec.source() + ": needs " + extern.name()
                    + ", which this version of bpf4j does not know" + advice);
        }
        KernelConfig known = config;
        IOException failure = unreadable;
        String why = known != null
                ? known.source() + " does not set"
                : failure != null
                        ? "is unknown: read the kernel's configuration: " + failure.getMessage()
                        : "is unknown: there is no configuration at /proc/config.gz or /boot/config-…; pass it to"
                                + " BpfLoader.kconfig";
        return new RelocationException(
                spec.source() + ": needs the kernel option " + extern.name() + ", which " + why + advice, failure);
    }

    private RelocationException invalid(ExternSpec extern, String value, KconfigType type) {
        return new RelocationException(spec.source() + ": the kernel option " + extern.name() + " is " + value
                + ", but the object declares it as " + describe(extern, type));
    }

    private static String describe(ExternSpec extern, KconfigType type) {
        return switch (type) {
            case BOOL -> "a bool";
            case CHAR -> "a char";
            case INTEGER -> "an integer of " + extern.size() + " bytes";
            case TRISTATE -> "an enum libbpf_tristate";
            case TEXT -> "a text of " + extern.size() + " bytes";
        };
    }

    private @Nullable KernelConfig config() {
        if (!configRead) {
            configRead = true;
            try {
                config = KernelConfig.of(host).orElse(null);
            } catch (IOException e) {
                unreadable = e;
            }
        }
        return config;
    }
}
