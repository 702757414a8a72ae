package io.bpf4j.loader.internal.load;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.internal.linux.KernelConfig;
import io.bpf4j.loader.internal.linux.LinuxVersion;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Values of {@code __kconfig} externs: options of the kernel's configuration, and three names that no kernel has and
 * every loader knows.
 *
 * <pre>
 *   LINUX_KERNEL_VERSION        major << 16 | minor << 8 | min(patch, 255)
 *   LINUX_HAS_BPF_COOKIE        whether bpf_get_attach_cookie() is there: usdt.bpf.h asks
 *   LINUX_HAS_SYSCALL_WRAPPER   whether system calls are entered with one pt_regs argument
 *   CONFIG_…  bool              y: true
 *             char, tristate    'y', 'm', 'n'
 *             integers          decimal or 0x…
 *             char arrays       the string, without quotes
 * </pre>
 *
 * <i>Confined.</i>
 */
final class KconfigValues {
    private final ObjectSpec spec;
    private final Features features;
    private @Nullable KernelConfig config;
    private boolean looked;

    KconfigValues(ObjectSpec spec, Features features) {
        this.spec = spec;
        this.features = features;
    }

    /** The bytes of the {@code .kconfig} map. */
    byte[] fill(DataSection section) {
        ByteBuffer bytes = ByteBuffer.wrap(section.initial()).order(spec.order());
        for (ExternSpec extern : spec.externs()) {
            if (extern.kind() == ExternSpec.Kind.KCONFIG) {
                set(bytes, extern);
            }
        }
        return bytes.array();
    }

    private void set(ByteBuffer bytes, ExternSpec extern) {
        switch (extern.name()) {
            case "LINUX_KERNEL_VERSION" ->
                number(bytes, extern, BigInteger.valueOf(LinuxVersion.running().code()));
            case "LINUX_HAS_BPF_COOKIE" -> number(bytes, extern, flag(features.has(Feature.BPF_COOKIE)));
            case "LINUX_HAS_SYSCALL_WRAPPER" -> number(bytes, extern, flag(features.has(Feature.SYSCALL_WRAPPER)));
            default -> option(bytes, extern);
        }
    }

    private static BigInteger flag(boolean value) {
        return value ? BigInteger.ONE : BigInteger.ZERO;
    }

    private void option(ByteBuffer bytes, ExternSpec extern) {
        Optional<String> value = Optional.ofNullable(config(extern)).flatMap(c -> c.value(extern.name()));
        if (value.isEmpty()) {
            if (extern.weak()) {
                return;
            }
            KernelConfig known = config;
            throw new RelocationException(spec.source() + ": needs the kernel option " + extern.name() + ", which "
                    + (known == null
                            ? "can't be known: no configuration at /proc/config.gz or /boot/config-…"
                            : known.source() + " does not set")
                    + "; declare it __weak if the object can do without");
        }
        String text = value.get();
        Btf types = spec.btf().orElseThrow();
        BtfType type = types.type(types.resolve(extern.typeId()));
        switch (type) {
            case BtfType.Array array -> string(bytes, extern, text);
            case BtfType.Int integer -> {
                if (text.length() == 1 && "ymn".contains(text)) {
                    boolean character = extern.size() == 1 && !integer.isBool();
                    if (integer.isBool() && text.equals("m")) {
                        throw wrong(extern, text, "bool");
                    }
                    number(bytes, extern, character ? BigInteger.valueOf(text.charAt(0)) : flag(!text.equals("n")));
                } else {
                    number(bytes, extern, parsed(extern, text));
                }
            }
            case BtfType.Enumeration tristate -> {
                // enum libbpf_tristate: TRI_NO, TRI_YES, TRI_MODULE
                int number = text.length() == 1 ? "nym".indexOf(text.charAt(0)) : -1;
                if (number < 0) {
                    throw wrong(extern, text, "a tristate");
                }
                number(bytes, extern, BigInteger.valueOf(number));
            }
            default -> throw wrong(extern, text, "neither an integer nor a string");
        }
    }

    private BigInteger parsed(ExternSpec extern, String text) {
        try {
            return text.startsWith("0x") ? new BigInteger(text.substring(2), 16) : new BigInteger(text);
        } catch (NumberFormatException e) {
            throw wrong(extern, text, "an integer");
        }
    }

    private void number(ByteBuffer bytes, ExternSpec extern, BigInteger value) {
        int bits = extern.size() * 8;
        if (value.bitLength() > bits) {
            throw wrong(extern, value.toString(), "an integer of " + extern.size() + " bytes");
        }
        long raw = value.longValue();
        switch (extern.size()) {
            case 1 -> bytes.put(extern.offset(), (byte) raw);
            case 2 -> bytes.putShort(extern.offset(), (short) raw);
            case 4 -> bytes.putInt(extern.offset(), (int) raw);
            case 8 -> bytes.putLong(extern.offset(), raw);
            default -> throw wrong(extern, value.toString(), extern.size() + " bytes");
        }
    }

    private void string(ByteBuffer bytes, ExternSpec extern, String text) {
        String bare = text.length() >= 2 && text.startsWith("\"") && text.endsWith("\"")
                ? text.substring(1, text.length() - 1)
                : text;
        byte[] encoded = bare.getBytes(StandardCharsets.UTF_8);
        // Cut where it does not fit, always with its terminating NUL.
        bytes.put(extern.offset(), encoded, 0, Math.min(encoded.length, extern.size() - 1));
    }

    private RelocationException wrong(ExternSpec extern, String value, String declared) {
        return new RelocationException(spec.source() + ": the kernel option " + extern.name() + " is " + value
                + ", but the object declares it as " + declared);
    }

    private @Nullable KernelConfig config(ExternSpec extern) {
        if (!looked) {
            looked = true;
            try {
                config = KernelConfig.running().orElse(null);
            } catch (IOException e) {
                if (!extern.weak()) {
                    throw new RelocationException("read the kernel's configuration: " + e.getMessage(), e);
                }
            }
        }
        return config;
    }
}
