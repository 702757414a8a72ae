package io.bpf4j.loader;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.internal.attach.Attacher;
import io.bpf4j.loader.internal.load.ObjectLoading.LoadedProgram;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.ObjectCommand;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.IteratorLink;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.ProgramHandle;
import io.bpf4j.loader.spec.ProgramSpec;
import java.util.Optional;

/** A program in the kernel. It belongs to its object and is closed with it. <i>Thread-safe.</i> */
public final class Program implements ProgramHandle {
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

    /** The verifier's log, if {@link BpfLoader#verifierLog} asked for one; else empty. */
    public String verifierLog() {
        return loaded.log();
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
        return new Attacher(object.kernel(), object.features())
                .attach(loaded.fd(), name(), loaded.attachType(), target);
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
     * Attaches as the section's name says.
     *
     * @throws AttachException if the name does not say to what, if this kind is not attached by its name, or if it fails
     */
    public Link attach() {
        Optional<SectionAttacher> attacher = SectionAttachers.of(spec());
        if (attacher.isPresent()) {
            return attacher.get().attach(this);
        }
        return attach(SectionTargets.of(spec()));
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
