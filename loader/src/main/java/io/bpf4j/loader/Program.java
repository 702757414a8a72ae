package io.bpf4j.loader;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.internal.attach.Attacher;
import io.bpf4j.loader.internal.load.LoadedObject.LoadedProgram;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.sys.BpfFs;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.ObjectCommand;
import io.bpf4j.loader.internal.sys.ProgCommand;
import io.bpf4j.loader.internal.sys.ProgInfo;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.IteratorLink;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.ProgramHandle;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.ProgramSpec;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** A program in the kernel. It belongs to its object and is closed with it. <i>Thread-safe.</i> */
public final class Program implements ProgramHandle {
    private static final int STREAM_ROOM = 16 << 10;

    private final BpfObject object;
    private final LoadedProgram loaded;

    Program(BpfObject object, LoadedProgram loaded) {
        this.object = object;
        this.loaded = loaded;
    }

    @Override
    public String name() {
        return loaded.spec().name();
    }

    public ProgramSpec spec() {
        return loaded.spec();
    }

    public BpfObject object() {
        return object;
    }

    /** What it was loaded for; the kernel fixes it then. */
    public Optional<AttachType> attachType() {
        return loaded.attachType();
    }

    /**
     * The verifier's log, if {@link BpfLoader#verifierLog} asked for one; else empty. All of it up to 64 MiB, or an eighth of
     * the heap; of a longer one a part, with a line that says so.
     */
    public String verifierLog() {
        return loaded.log();
    }

    /** What the verification took, if {@link BpfLoader#verifierLog} asked for a log; of level 4 there are the most figures. */
    public Optional<VerifierStatistics> verifierStatistics() {
        return VerifierStatistics.of(loaded.log());
    }

    @Override
    public int id() {
        return object.kernel()
                .execute(new ObjectCommand.InfoOfProgram(loaded.fd()))
                .id();
    }

    /**
     * Attaches to a target.
     *
     * @throws AttachException if it can't be; nothing is left attached
     * @throws io.bpf4j.loader.error.UnsupportedFeatureException if this kernel lacks what the target asks for
     */
    public Link attach(AttachTarget target) {
        return new Attacher(object.host(), object.features()).attach(loaded.fd(), name(), loaded.attachType(), target);
    }

    /**
     * Attaches an iterator, whose streams are what the program writes.
     *
     * @throws AttachException if it can't be; nothing is left attached
     */
    public IteratorLink attach(AttachTarget.Iter target) {
        return (IteratorLink) attach((AttachTarget) target);
    }

    /**
     * Whether the section's name says where the program goes, as {@code SEC("tp/sched/sched_switch")} and unlike {@code
     * SEC("xdp")} and {@code SEC("uprobe")}. It may still say it wrongly: {@code SEC("tp/sched")}.
     */
    public boolean isAttachedBySection() {
        return SectionAttachers.of(spec()).isPresent() ? spec().hasTarget() : spec().isAttachedBySection();
    }

    /**
     * Attaches as the section's name says.
     *
     * @throws AttachException if the name does not say to what, if this kind is not attached by its name, or if it fails
     */
    public Link attach() {
        Optional<SectionAttacher> attacher = SectionAttachers.of(spec());
        if (attacher.isPresent()) {
            return attacher.get().attach(this);
        }
        return attach(spec().attachTarget());
    }

    /**
     * Runs the program in the kernel, once or often, without attaching it (BPF_PROG_TEST_RUN, Linux 4.12).
     *
     * @throws io.bpf4j.loader.error.SyscallException ENOTSUPP if the kernel can't run this kind of program so, EINVAL if
     *     it takes something else than it was given, ENOSPC if the data does not fit the room given
     */
    public TestResult test(TestRun run) {
        ProgCommand.TestRunResult result = object.kernel()
                .execute(new ProgCommand.TestRun(
                        loaded.fd(),
                        run.data(),
                        run.dataRoom(),
                        run.context(),
                        run.contextRoom(),
                        run.repeat(),
                        run.flags(),
                        run.cpu(),
                        run.batchSize()));
        return new TestResult(result.returned(), result.nanos(), result.data(), result.context());
    }

    /**
     * Lets the program work for a struct of functions (BPF_PROG_ASSOC_STRUCT_OPS, Linux 7.0): functions of the kernel that
     * it calls then find the struct, as those find it that the struct's own programs call. Its own programs belong to it
     * anyway. A program keeps to the first struct, and holds its map.
     *
     * @param structOps a map of {@link BpfObject#structOps}
     * @throws UnsupportedFeatureException before Linux 7.0
     * @throws SyscallException EBUSY if it works for another struct; EINVAL if the map is of another kind, or the program
     *     is itself one of struct_ops
     */
    public void associate(BpfMap structOps) {
        Fd fd = loaded.fd();
        int number = fd.hold();
        try {
            object.kernel()
                    .execute(new ProgCommand.AssociateStructOps(
                            number, KernelMap.of(structOps).fd()));
        } catch (SyscallException e) {
            if (e.errno() == Errno.EINVAL
                    && object.features().support(Feature.STRUCT_OPS_ASSOCIATION) instanceof Support.Absent absent) {
                UnsupportedFeatureException missing = new UnsupportedFeatureException(
                        "associate program \"" + name() + "\" with map \"" + structOps.name() + "\"",
                        Feature.STRUCT_OPS_ASSOCIATION,
                        absent.reason());
                missing.addSuppressed(e);
                throw missing;
            }
            throw e;
        } finally {
            fd.release();
        }
    }

    /** What a program writes text to. */
    public enum TextStream {
        /** What it prints itself, with {@code bpf_stream_printk(BPF_STREAM_STDOUT, …)}. */
        OUT(1),
        /** What it prints there, and what the kernel has to say: faults in an arena, loops that took too long. */
        ERR(2);

        private final int number;

        TextStream(int number) {
            this.number = number;
        }
    }

    /**
     * Takes out what the program has written to a stream since the last time (Linux 6.17, commit 5ab154f1463a). What
     * nobody takes out stays, up to 100,000 bytes; then the program's prints fail.
     *
     * @return empty if there is nothing
     * @throws io.bpf4j.loader.error.SyscallException EINVAL before Linux 6.17
     */
    public String readStream(TextStream stream) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] part;
        do {
            part = object.kernel().execute(new ProgCommand.ReadStream(loaded.fd(), stream.number, STREAM_ROOM));
            all.writeBytes(part);
        } while (part.length == STREAM_ROOM);
        return all.toString(StandardCharsets.UTF_8);
    }

    /** What the kernel says about this program now; its run time and count while {@link RunStatistics} are on. */
    public ProgramInfo info() {
        ProgInfo info = object.kernel().execute(new ObjectCommand.InfoOfProgram(loaded.fd()));
        return new ProgramInfo(
                info.id(),
                info.name(),
                info.type(),
                info.tag(),
                info.translatedSize(),
                info.jitedSize(),
                info.verifiedInstructions(),
                object.kernel().execute(new ObjectCommand.MapIdsOfProgram(loaded.fd())),
                info.btfId(),
                info.uid(),
                info.gplCompatible(),
                Duration.ofNanos(info.loadedAtNanos()),
                Duration.ofNanos(info.runNanos()),
                info.runCount(),
                info.missed());
    }

    /**
     * Gives the program a name in a BPF file system, where it outlives this process (Linux 4.4). A pinned program is
     * loaded, not attached: pin the link for that.
     *
     * @param path does not exist yet and has no dot in its last part; its directory is in a mounted bpffs
     * @throws io.bpf4j.loader.error.SyscallException if the path is taken or not in a BPF file system; the message says
     */
    public void pin(Path path) {
        BpfFs.pin(object.kernel(), loaded.fd(), path);
    }

    /**
     * Removes a name that {@link #pin} gave.
     *
     * @return false if nothing has that name
     * @throws IllegalArgumentException if it is the name of something else, which stays
     */
    public boolean unpin(Path path) {
        return BpfFs.unpin(object.kernel(), loaded.fd(), ObjectCommand.Kind.PROGRAM, path);
    }

    /**
     * The same program loaded for another attach type: the kernel fixes it at load, so that a program for a multi-uprobe
     * link can't be attached any other way. The copy shares the maps, is made once, and is closed with the object.
     */
    public Program forAttachType(Optional<AttachType> attachType) {
        return attachType.equals(loaded.attachType()) ? this : object.copyOf(this, attachType);
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return type.isInstance(loaded.fd()) ? Optional.of(type.cast(loaded.fd())) : Optional.empty();
    }

    Fd fd() {
        return loaded.fd();
    }

    @Override
    public String toString() {
        return "program " + name() + " (SEC(\"" + spec().sectionName() + "\"))";
    }
}
