package io.bpf4j.loader.internal.load;

import io.bpf4j.loader.internal.plan.LoaderLog;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.FailureHints;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.LoadResult;
import io.bpf4j.sys.internal.call.ProcessRights;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.kernel.Errno;
import java.util.Iterator;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The object's BTF in the kernel. Most objects work without BTF: a rejection is kept for programs that need it, and
 * reported as a warning.
 *
 * <p>Tested by {@code VerifierRefusalTest} and {@code VerdictsOnKernelTest}.
 *
 * @param fd the caller closes it; null if the object has no BTF, or the kernel did not accept it
 * @param refusal why the kernel did not accept it; null if it did, or if nothing was loaded
 */
record BtfLoading(@Nullable Fd fd, @Nullable String refusal) {
    /**
     * Loads the BTF.
     *
     * @param source the object's name in messages
     * @param bytes empty if the object has no BTF, or the kernel does not support it
     * @throws io.bpf4j.sys.SyscallException if this process lacks the rights, which it needs for programs, too, or
     *     the kernel has no bpf(2)
     */
    static BtfLoading of(Host host, String source, Optional<byte[]> bytes) {
        if (bytes.isEmpty()) {
            return new BtfLoading(null, null);
        }
        ProgCommand.LoadBtf command = new ProgCommand.LoadBtf(source, bytes.get(), ProgCommand.Log.NONE);
        Kernel kernel = Kernel.of(host);
        return switch (kernel.execute(command)) {
            case LoadResult.Loaded loaded -> new BtfLoading(loaded.fd(), null);
            case LoadResult.Refused refused -> {
                Errno errno = Errno.of(refused.errno());
                if (errno == Errno.EPERM
                        || errno == Errno.ENOSYS) { // not about this BTF: programs would fare as it does
                    throw FailureHints.explained(command, refused.errno(), ProcessRights.of(host));
                }
                yield withLog(kernel, source, bytes.get(), refused.errno());
            }
        };
    }

    private static BtfLoading withLog(Kernel kernel, String source, byte[] bytes, int errno) {
        LoadResult again = new LoggedLoad()
                .load(
                        LoggedLoad.INSTRUCTIONS,
                        false,
                        log -> kernel.execute(new ProgCommand.LoadBtf(source, bytes, log)));
        return switch (again) {
            case LoadResult.Loaded loaded -> new BtfLoading(loaded.fd(), null);
            case LoadResult.Refused logged -> {
                String refusal = Errno.describe(errno) + ": " + reason(logged.log());
                LoaderLog.warn(source + ": the kernel refuses the object's BTF, so the object is loaded without it: "
                        + refusal);
                yield new BtfLoading(null, refusal);
            }
        };
    }

    /**
     * The log lists the types up to the invalid one, members after their type:
     *
     * <pre>
     * [2] STRUCT wrong size=4 vlen=1
     *         nothing type_id=0 bits_offset=0 Invalid type_id
     * </pre>
     */
    private static String reason(String log) {
        String type = "";
        String last = "";
        for (Iterator<String> lines = log.lines().iterator(); lines.hasNext(); ) {
            String line = lines.next();
            if (!line.isBlank()) {
                type = line.startsWith("\t") ? type : line;
                last = line;
            }
        }
        if (last.isEmpty()) {
            return "the kernel returned no log";
        }
        return last.equals(type) ? last.strip() : type.strip() + ", " + last.strip();
    }
}
