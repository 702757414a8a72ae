package io.bpf4j.usdt.internal.section;

import java.util.Optional;

/**
 * The target in a section's name: {@code /usr/lib/libjvm.so:hotspot:gc__begin} of {@code
 * SEC("usdt//usr/lib/libjvm.so:hotspot:gc__begin")}. <b>Immutable</b>.
 *
 * <p>The probe is what follows the last two colons, so that a path may contain some.
 */
record UsdtSection(String path, String provider, String name) {

    static Optional<UsdtSection> parse(String target) {
        int nameColon = target.lastIndexOf(':');
        int providerColon = target.lastIndexOf(':', nameColon - 1);
        if (nameColon < 0 || providerColon <= 0) {
            return Optional.empty();
        }
        String provider = target.substring(providerColon + 1, nameColon);
        String name = target.substring(nameColon + 1);
        return provider.isEmpty() || name.isEmpty()
                ? Optional.empty()
                : Optional.of(new UsdtSection(target.substring(0, providerColon), provider, name));
    }
}
