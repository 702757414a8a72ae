package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.trace.BufferSize;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The size of the ring buffer for events. <i>Confined.</i>
 *
 * <p>Tested by {@code CliLosslessTest} and {@code CliUsageTest}.
 */
final class BufferOption {
    @Option(
            names = "--buffer",
            paramLabel = "SIZE",
            description = "Size of the ring buffer for events that wait to be printed: 64KiB, 1GiB (default: 16MiB).")
    private @Nullable String buffer;

    boolean isGiven() {
        return buffer != null;
    }

    /**
     * The size in bytes, a power of two.
     *
     * @throws UsageException if the text is not a size, or is out of range
     */
    int bytes() {
        String size = buffer;
        if (size == null) {
            return BufferSize.DEFAULT;
        }
        try {
            return BufferSize.parse(size);
        } catch (IllegalArgumentException e) {
            throw new UsageException("--buffer: " + e.getMessage());
        }
    }
}
