package io.bpf4j.sys.kernel;

import java.util.stream.Stream;

/**
 * The kernel's error numbers with their names and texts.
 *
 * <p>The numbers are those of include/uapi/asm-generic/errno-base.h and errno.h, which x86-64, arm64, riscv64,
 * loongarch64, s390x and ppc64le share; the texts are those of strerror(3). {@link #ENOTSUPP} is internal to the kernel
 * (include/linux/errno.h) but bpf(2) returns it; libc has no text for it. Numbers that no call of bpf4j can return are
 * left out: those of STREAMS, XENIX and obsolete networks. <i>Immutable.</i>
 *
 * <p>Tested by {@code KernelValuesTest}.
 */
public enum Errno {
    /** Not an error: the call succeeded. */
    OK(0, "Success"),
    EPERM(1, "Operation not permitted"),
    ENOENT(2, "No such file or directory"),
    ESRCH(3, "No such process"),
    EINTR(4, "Interrupted system call"),
    EIO(5, "Input/output error"),
    ENXIO(6, "No such device or address"),
    E2BIG(7, "Argument list too long"),
    ENOEXEC(8, "Exec format error"),
    EBADF(9, "Bad file descriptor"),
    ECHILD(10, "No child processes"),
    EAGAIN(11, "Resource temporarily unavailable"),
    ENOMEM(12, "Cannot allocate memory"),
    EACCES(13, "Permission denied"),
    EFAULT(14, "Bad address"),
    EBUSY(16, "Device or resource busy"),
    EEXIST(17, "File exists"),
    EXDEV(18, "Invalid cross-device link"),
    ENODEV(19, "No such device"),
    ENOTDIR(20, "Not a directory"),
    EISDIR(21, "Is a directory"),
    EINVAL(22, "Invalid argument"),
    ENFILE(23, "Too many open files in system"),
    EMFILE(24, "Too many open files"),
    ENOTTY(25, "Inappropriate ioctl for device"),
    ETXTBSY(26, "Text file busy"),
    EFBIG(27, "File too large"),
    ENOSPC(28, "No space left on device"),
    ESPIPE(29, "Illegal seek"),
    EROFS(30, "Read-only file system"),
    EMLINK(31, "Too many links"),
    EPIPE(32, "Broken pipe"),
    EDOM(33, "Numerical argument out of domain"),
    ERANGE(34, "Numerical result out of range"),
    EDEADLK(35, "Resource deadlock avoided"),
    ENAMETOOLONG(36, "File name too long"),
    ENOLCK(37, "No locks available"),
    ENOSYS(38, "Function not implemented"),
    ENOTEMPTY(39, "Directory not empty"),
    ELOOP(40, "Too many levels of symbolic links"),
    ENOMSG(42, "No message of desired type"),
    EIDRM(43, "Identifier removed"),
    ENODATA(61, "No data available"),
    ETIME(62, "Timer expired"),
    ENOLINK(67, "Link has been severed"),
    EPROTO(71, "Protocol error"),
    EBADMSG(74, "Bad message"),
    EOVERFLOW(75, "Value too large for defined data type"),
    EBADFD(77, "File descriptor in bad state"),
    EILSEQ(84, "Invalid or incomplete multibyte or wide character"),
    ERESTART(85, "Interrupted system call should be restarted"),
    ENOTSOCK(88, "Socket operation on non-socket"),
    EDESTADDRREQ(89, "Destination address required"),
    EMSGSIZE(90, "Message too long"),
    EPROTOTYPE(91, "Protocol wrong type for socket"),
    ENOPROTOOPT(92, "Protocol not available"),
    EPROTONOSUPPORT(93, "Protocol not supported"),
    ESOCKTNOSUPPORT(94, "Socket type not supported"),
    EOPNOTSUPP(95, "Operation not supported"),
    EPFNOSUPPORT(96, "Protocol family not supported"),
    EAFNOSUPPORT(97, "Address family not supported by protocol"),
    EADDRINUSE(98, "Address already in use"),
    EADDRNOTAVAIL(99, "Cannot assign requested address"),
    ENETDOWN(100, "Network is down"),
    ENETUNREACH(101, "Network is unreachable"),
    ENETRESET(102, "Network dropped connection on reset"),
    ECONNABORTED(103, "Software caused connection abort"),
    ECONNRESET(104, "Connection reset by peer"),
    ENOBUFS(105, "No buffer space available"),
    EISCONN(106, "Transport endpoint is already connected"),
    ENOTCONN(107, "Transport endpoint is not connected"),
    ESHUTDOWN(108, "Cannot send after transport endpoint shutdown"),
    ETOOMANYREFS(109, "Too many references: cannot splice"),
    ETIMEDOUT(110, "Connection timed out"),
    ECONNREFUSED(111, "Connection refused"),
    EHOSTDOWN(112, "Host is down"),
    EHOSTUNREACH(113, "No route to host"),
    EALREADY(114, "Operation already in progress"),
    EINPROGRESS(115, "Operation now in progress"),
    ESTALE(116, "Stale file handle"),
    EUCLEAN(117, "Structure needs cleaning"),
    EREMOTEIO(121, "Remote I/O error"),
    EDQUOT(122, "Disk quota exceeded"),
    ENOMEDIUM(123, "No medium found"),
    ECANCELED(125, "Operation canceled"),
    ENOKEY(126, "Required key not available"),
    EKEYEXPIRED(127, "Key has expired"),
    EKEYREVOKED(128, "Key has been revoked"),
    EKEYREJECTED(129, "Key was rejected by service"),
    EOWNERDEAD(130, "Owner died"),
    ENOTRECOVERABLE(131, "State not recoverable"),
    EHWPOISON(133, "Memory page has hardware error"),
    ENOTSUPP(524, "Operation is not supported"),
    /** A number that is not in this list; callers keep the number as well. */
    UNKNOWN(-1, "Unknown error");

    private final int number;
    private final String text;

    Errno(int number, String text) {
        this.number = number;
        this.text = text;
    }

    /** The number in the kernel ABI, 0 for {@link #OK} and -1 for {@link #UNKNOWN}. */
    public int number() {
        return number;
    }

    /** The error with this number, {@link #UNKNOWN} if this list lacks it. */
    public static Errno of(int number) {
        return Stream.of(values())
                .filter(errno -> errno.number == number)
                .findFirst()
                .orElse(UNKNOWN);
    }

    /** Name, text and, for an unknown one, the number: {@code EPERM (Operation not permitted)}. */
    public static String describe(int number) {
        Errno errno = of(number);
        return errno == UNKNOWN ? "errno " + number : errno.name() + " (" + errno.text + ")";
    }
}
