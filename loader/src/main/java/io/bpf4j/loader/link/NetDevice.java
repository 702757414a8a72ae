package io.bpf4j.loader.link;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A network device of this process's network namespace, by name or by index. <i>Immutable.</i> A name is looked up when
 * a program is attached.
 *
 * <p>Tested by {@code LinkTargetGoldenTest} and {@code HooksOnKernelTest}.
 *
 * @param name such as {@code eth0}; empty if it is given by index
 * @param index its positive number; empty if it is given by name
 */
public record NetDevice(Optional<String> name, OptionalInt index) {
    /** IFNAMSIZ without the NUL. */
    private static final int MAX_NAME_LENGTH = 15;

    public NetDevice {
        if (name.isPresent() == index.isPresent()) {
            throw new IllegalArgumentException("a network device has either a name or an index");
        }
        if (index.isPresent() && index.getAsInt() <= 0) {
            throw new IllegalArgumentException(
                    index.getAsInt() + " is not the index of a network device: indexes are positive");
        }
        name.ifPresent(NetDevice::requireName);
    }

    /** The kernel would truncate the name, or end it at a NUL, which could be the name of another device. */
    private static void requireName(String name) {
        if (name.isEmpty()
                || name.getBytes(StandardCharsets.UTF_8).length > MAX_NAME_LENGTH
                || name.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("\"" + name + "\" is not a name of a network device: names have 1 to "
                    + MAX_NAME_LENGTH + " bytes");
        }
    }

    /** By its name. */
    public static NetDevice named(String name) {
        return new NetDevice(Optional.of(name), OptionalInt.empty());
    }

    /** By its index, as {@code ip link} numbers devices. */
    public static NetDevice of(int index) {
        return new NetDevice(Optional.empty(), OptionalInt.of(index));
    }

    @Override
    public String toString() {
        return name.orElseGet(() -> "device " + index.getAsInt());
    }
}
