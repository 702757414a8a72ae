package io.bpf4j.usdt;

import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.kernel.Errno;

/** Which failures of a multi link are about multi links, rather than about the sites or the process. */
final class Fallback {
    private Fallback() {}

    /**
     * Whether attaching site by site may succeed where a multi link failed. Not for EINVAL, which a bad offset gives as
     * well, nor for ENOTSUPP, which an instruction gives that can't be probed: attaching thousands of sites one by one, to
     * fail at the same, and then to wait a tenth of a second for each to be detached, is no help.
     */
    static boolean mayHelp(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SyscallException refused) {
                Errno errno = refused.errno();
                return errno == Errno.EOPNOTSUPP || errno == Errno.ENOSYS || errno == Errno.E2BIG;
            }
        }
        return false;
    }
}
