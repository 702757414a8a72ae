package io.bpf4j.loader;

import io.bpf4j.elf.internal.text.CString;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.internal.attach.Attacher;
import io.bpf4j.loader.internal.load.LoadedObject.LoadedProgram;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Iter;
import io.bpf4j.loader.link.IteratorLink;
import io.bpf4j.loader.link.KprobeMulti;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.ProgramHandle;
import io.bpf4j.loader.link.UprobeMulti;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.Descriptor;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.BpfFs;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.OwnDescriptor;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.ProgramInfo;
import io.bpf4j.sys.kernel.ProgramType;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A program in the kernel. <i>Thread-safe.</i>
 *
 * <p>A program of a {@link BpfObject} is closed with the object; closing it earlier is harmless. A program that {@link
 * Programs} opened belongs to its caller. Links keep their program in the kernel after it is closed.
 */
public final class Program implements ProgramHandle, AutoCloseable {
    private static final int STREAM_READ_BYTES = 16 << 10;

    /** BPF_STREAM_MAX_CAPACITY of include/linux/bpf.h. */
    private static final int STREAM_CAPACITY = 100_000;

    private final Host host;
    private final Fd fd;
    private final String name;
    private final Optional<AttachType> attachType;
    private final @Nullable Origin origin;

    /** The object that a program was loaded with, and the program in it. */
    private record Origin(BpfObject object, LoadedProgram loaded) {}

    Program(BpfObject object, LoadedProgram loaded) {
        this.host = object.host();
        this.fd = loaded.fd();
        this.name = loaded.plan().spec().name();
        this.attachType = loaded.attachType();
        this.origin = new Origin(object, loaded);
    }

    /** A program that was opened. Takes ownership of the descriptor. */
    Program(Host host, Fd fd, String name, Optional<AttachType> attachType) {
        this.host = host;
        this.fd = fd;
        this.name = name;
        this.attachType = attachType;
        this.origin = null;
    }

    /** The name in the object; for a program that was opened, its first 15 bytes. */
    @Override
    public String name() {
        return name;
    }

    /**
     * The definition in the object.
     *
     * @throws IllegalStateException if the program was opened by its id or pin
     */
    public ProgramSpec spec() {
        return origin().loaded().plan().spec();
    }

    /**
     * The object that the program was loaded with.
     *
     * @throws IllegalStateException if the program was opened by its id or pin
     */
    public BpfObject object() {
        return origin().object();
    }

    private Origin origin() {
        if (origin == null) {
            throw new IllegalStateException(this + " was opened by its id or pin, so its object is unknown");
        }
        return origin;
    }

    /**
     * The attach type that the program was loaded with; the kernel fixes it at load. Empty if it has none, and for a
     * program that was opened by its id or pin if it is unknown.
     */
    public Optional<AttachType> attachType() {
        return attachType;
    }

    /**
     * The verifier log, if {@link BpfLoader#verifierLog} asked for it; else empty. A log of more than 64 MiB, or an
     * eighth of the heap, is shortened, with a line that says so.
     */
    public String verifierLog() {
        return origin == null ? "" : origin.loaded().log();
    }

    /**
     * The cost of the verification, if {@link BpfLoader#verifierLog} asked for a log; level 4 has the most statistics.
     */
    public Optional<VerifierStatistics> verifierStatistics() {
        return VerifierStatistics.of(verifierLog());
    }

    @Override
    public int id() {
        return info().id();
    }

    /**
     * Attaches to a target.
     *
     * @throws AttachException if attaching fails; nothing is left attached
     * @throws io.bpf4j.loader.error.UnsupportedFeatureException if this kernel lacks a feature that the target needs
     */
    public Link attach(AttachTarget target) {
        Optional<AttachType> type = origin == null ? attachType.or(() -> usualAttachType(target)) : attachType;
        return new Attacher(host, features()).attach(fd, name, type, target);
    }

    private Features features() {
        return origin == null ? Features.of(host) : origin.object().features();
    }

    /** The attach type of most programs for a target, to try with a program whose attach type is not known. */
    private static Optional<AttachType> usualAttachType(AttachTarget target) {
        return switch (target) {
            case KprobeMulti _ -> Optional.of(AttachType.TRACE_KPROBE_MULTI);
            case UprobeMulti _ -> Optional.of(AttachType.TRACE_UPROBE_MULTI);
            default -> Optional.empty();
        };
    }

    /**
     * Attaches an iterator. Its streams return the program's output.
     *
     * @throws AttachException if attaching fails; nothing is left attached
     */
    public IteratorLink attach(Iter target) {
        return (IteratorLink) attach((AttachTarget) target);
    }

    /**
     * Whether the section name has a target, as in {@code SEC("tp/sched/sched_switch")} and unlike {@code SEC("xdp")}
     * and {@code SEC("uprobe")}. The target may still be malformed: {@code SEC("tp/sched")}.
     */
    public boolean isAttachedBySection() {
        return origin != null
                && (SectionAttachers.of(spec()).isPresent() ? spec().hasTarget() : spec().isAttachedBySection());
    }

    /**
     * Attaches to the target in the section name.
     *
     * @throws AttachException if the section name has no target, if this kind of program is not attached by its
     *     section name, or if attaching fails
     * @throws IllegalStateException if the program was opened by its id or pin
     */
    public Link attach() {
        Optional<SectionAttacher> attacher = SectionAttachers.of(spec());
        if (attacher.isPresent()) {
            return attacher.get().attach(this);
        }
        return attach(spec().attachTarget());
    }

    /**
     * Runs the program in the kernel, once or repeatedly, without attaching it (BPF_PROG_TEST_RUN, Linux 4.12).
     *
     * @throws io.bpf4j.sys.SyscallException ENOTSUPP if the kernel can't test this program type, EINVAL if
     *     the program type does not take this input, ENOSPC if the output is larger than its buffer
     */
    public TestRun.Result test(TestRun run) {
        ProgCommand.TestRunResult result = Kernel.of(host).execute(run.of(fd));
        return new TestRun.Result(result.returned(), result.nanos(), result.data(), result.context());
    }

    /**
     * Associates the program with a struct_ops map (BPF_PROG_ASSOC_STRUCT_OPS, Linux 7.0). Kfuncs that the program
     * calls can then find the struct, as they can for the struct's own programs. The struct's own programs are always
     * associated. The association can't be changed, and the program holds a reference to the map.
     *
     * @param structOps a map of {@link BpfObject#structOps}
     * @throws UnsupportedFeatureException before Linux 7.0
     * @throws SyscallException EBUSY if the program is associated with another struct_ops map; EINVAL if the map is
     *     not a struct_ops map, or the program is itself a struct_ops program
     */
    public void associate(BpfMap structOps) {
        int number = fd.hold();
        try {
            Kernel.of(host)
                    .execute(new ProgCommand.AssociateStructOps(
                            number, KernelMap.of(structOps).fd()));
        } catch (SyscallException e) {
            if (e.errno() == Errno.EINVAL && features().lacks(Feature.STRUCT_OPS_ASSOCIATION)) {
                String operation = "associate program \"" + name + "\" with map \"" + structOps.name() + "\"";
                features().require(Feature.STRUCT_OPS_ASSOCIATION, operation);
            }
            throw e;
        } finally {
            fd.release();
        }
    }

    /** A stream that a program writes text to. */
    public enum TextStream {
        /** The program's output of {@code bpf_stream_printk(BPF_STREAM_STDOUT, …)}. */
        OUT(1),
        /**
         * The program's output to this stream, and the kernel's reports: faults in an arena, loops that took too long.
         */
        ERR(2);

        private final int number;

        TextStream(int number) {
            this.number = number;
        }
    }

    /**
     * Reads and removes the text that the program has written to a stream (Linux 6.17, commit 5ab154f1463a). A stream
     * holds up to 100,000 unread bytes; beyond that the program's prints fail. Reading stops after about as many bytes,
     * because a program may print faster than its stream is read.
     *
     * @return empty if the stream is empty
     * @throws io.bpf4j.sys.SyscallException EINVAL before Linux 6.17
     */
    public String readStream(TextStream stream) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] part;
        do {
            part = Kernel.of(host).execute(new ProgCommand.ReadStream(fd, stream.number, STREAM_READ_BYTES));
            all.writeBytes(part);
        } while (part.length == STREAM_READ_BYTES && all.size() < STREAM_CAPACITY);
        return CString.exact(all.toByteArray());
    }

    /**
     * The kernel's current information about this program; run time and count only advance while {@link RunStatistics}
     * are on.
     */
    public ProgramInfo info() {
        return Kernel.of(host).execute(new ObjectCommand.InfoOfProgram(fd));
    }

    /**
     * The program's code after verification, with the machine code (Linux 4.13), the functions and the lines of the
     * source (5.0). Without CAP_BPF all is empty. The machine code is empty, and addresses are 0, if the kernel hides
     * them (kernel.kptr_restrict).
     */
    public ProgramCode code() {
        return ProgramCode.of(host, fd);
    }

    /**
     * Pins the program in a BPF file system, so that it outlives this process (Linux 4.4). A pinned program stays
     * loaded, not attached: to keep it attached, pin the link.
     *
     * @param path must not exist yet nor have a dot in its last part; must be in a mounted BPF file system. The last
     *     directory of the path is created if it does not exist
     * @throws io.bpf4j.sys.SyscallException if the path already exists or is not in a BPF file system; the
     *     message says which
     */
    public void pin(Path path) {
        BpfFs.pin(Kernel.of(host), fd, path);
    }

    /**
     * Removes a pin that {@link #pin} created.
     *
     * @return false if the path does not exist
     * @throws IllegalArgumentException if the path is not a pin of this program; it then stays
     */
    public boolean unpin(Path path) {
        return BpfFs.unpin(Kernel.of(host), fd, ObjectCommand.Kind.PROGRAM, path);
    }

    /**
     * The same program loaded with another attach type. The kernel fixes the attach type at load: a program for a
     * uprobe_multi link can't be attached any other way. The copy shares the maps, is loaded once, and is closed with
     * the object.
     *
     * <p>A program that was opened by its id or pin can't be loaded again. The result is the same program, which
     * according to the caller was loaded with this attach type. It is closed together with this object.
     */
    public Program forAttachType(AttachType attachType) {
        return copy(Optional.of(attachType));
    }

    /** As {@link #forAttachType}, without an attach type, as for a single uprobe or kprobe. */
    public Program withoutAttachType() {
        return copy(Optional.empty());
    }

    private Program copy(Optional<AttachType> attachType) {
        if (attachType.equals(this.attachType)) {
            return this;
        }
        return origin == null
                ? new Program(host, fd, name, attachType)
                : origin.object().copyOf(origin.loaded(), attachType);
    }

    /**
     * A descriptor of the program for other code, such as system calls that bpf4j does not make. The caller must close
     * it.
     *
     * @throws IllegalStateException if the program is closed
     */
    public Descriptor descriptor() {
        return OwnDescriptor.of(Kernel.of(host), fd);
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return type.isInstance(fd) ? Optional.of(type.cast(fd)) : Optional.empty();
    }

    Fd fd() {
        return fd;
    }

    /** A type of programs, for messages. */
    static String typeName(int number) {
        return ProgramType.of(number).map(Enum::name).orElse("number " + number);
    }

    /** Closes the program's file descriptor; links stay attached. A second call does nothing. */
    @Override
    public void close() {
        fd.close();
    }

    @Override
    public String toString() {
        return "program " + name
                + (origin == null
                        ? ""
                        : " (SEC(\"" + origin.loaded().plan().spec().sectionName() + "\"))");
    }
}
