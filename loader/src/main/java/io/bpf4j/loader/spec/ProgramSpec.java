package io.bpf4j.loader.spec;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.ProgramType;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A program as an object defines it. <i>Immutable</i>; the {@code with…} methods return an edited copy, to change a
 * program before the object is loaded.
 *
 * <p>Tested by {@code LoadEditsTest} and {@code EditsOnKernelTest}.
 */
public sealed interface ProgramSpec permits ProgramSpecData {
    /** {@code BPF_F_STRICT_ALIGNMENT}: misaligned accesses are refused on every machine (Linux 4.12). */
    int F_STRICT_ALIGNMENT = 1;

    /** {@code BPF_F_ANY_ALIGNMENT}: misaligned accesses are accepted on every machine (Linux 5.0). */
    int F_ANY_ALIGNMENT = 1 << 1;

    /** {@code BPF_F_TEST_STATE_FREQ}: the verifier keeps a state at each jump, to test it (Linux 5.4). */
    int F_TEST_STATE_FREQ = 1 << 3;

    /** {@code BPF_F_SLEEPABLE}: the program may sleep, and so read user memory that is paged out (Linux 5.10). */
    int F_SLEEPABLE = 1 << 4;

    /** {@code BPF_F_XDP_HAS_FRAGS}: the program supports packets in several buffers (Linux 5.18). */
    int F_XDP_HAS_FRAGS = 1 << 5;

    /**
     * {@code BPF_F_XDP_DEV_BOUND_ONLY}: for the device of {@link #ifindex()}, on this machine's processor (Linux 6.3).
     */
    int F_XDP_DEV_BOUND_ONLY = 1 << 6;

    /** {@code BPF_F_TEST_REG_INVARIANTS}: the verifier fails if its register bounds are inconsistent (Linux 6.8). */
    int F_TEST_REG_INVARIANTS = 1 << 7;

    /** The name of its function, or that of {@link #withName}. */
    String name();

    /** The section's name as in {@code SEC("…")}, without a leading {@code ?}. */
    String sectionName();

    /** The kind of the section name; empty if bpf4j does not know the name, or the type was changed. */
    Optional<SectionKind> kind();

    /** The program type, {@link ProgramType#UNSPEC} if the section name does not define it. */
    ProgramType type();

    /** The expected attach type, empty if the type has none. */
    Optional<AttachType> attachType();

    /** {@code BPF_F_*} of program load. */
    int flags();

    /** The part of the section name after the kind's name, without the slash, such as a function; may be empty. */
    String target();

    /** The index of the network device that the program is for; 0 for none. */
    int ifindex();

    /**
     * Whether it is loaded. False if the section name starts with {@code ?}. Unless {@link #autoloadSet}, a program
     * that struct_ops variables refer to is loaded if one of their maps is created, regardless of this value.
     */
    boolean autoload();

    /** Whether {@link #withAutoload} has set {@link #autoload}. */
    boolean autoloadSet();

    /** Whether {@code attachAll()} attaches it, if the section name has a target. */
    boolean autoattach();

    /**
     * The level of the verifier log, also for an accepted program, as in {@code BpfLoader.verifierLog}; empty for the
     * loader's level.
     */
    OptionalInt verifierLog();

    /** The program's entry. */
    FunctionSpec function();

    /**
     * A program as its section name defines it.
     *
     * @param section as in {@code SEC("…")}, with its {@code ?} if it has one
     */
    static ProgramSpec of(String section, FunctionSpec function) {
        boolean optional = section.startsWith("?");
        String sectionName = optional ? section.substring(1) : section;
        Optional<SectionKind> kind = SectionKind.of(sectionName);
        int flags = 0;
        if (kind.map(SectionKind::sleepable).orElse(false)) {
            flags |= F_SLEEPABLE;
        }
        if (kind.map(SectionKind::frags).orElse(false)) {
            flags |= F_XDP_HAS_FRAGS;
        }
        return new ProgramSpecData(
                function.name(),
                sectionName,
                kind,
                kind.map(SectionKind::type).orElse(ProgramType.UNSPEC),
                kind.flatMap(SectionKind::attachType),
                flags,
                kind.map(k -> SectionKinds.targetOf(k, sectionName)).orElse(""),
                0,
                !optional,
                false,
                true,
                OptionalInt.empty(),
                function);
    }

    /** Whether the section name or {@link #withTarget} gives a target. */
    default boolean hasTarget() {
        return !target().isEmpty() || sectionName().indexOf('/') >= 0;
    }

    /**
     * Whether the section name has a target, even a malformed one: {@code SEC("uprobe/x")} has one, {@code
     * SEC("uprobe")} has none, and {@code SEC("xdp")} can't have one.
     */
    default boolean isAttachedBySection() {
        return kind().flatMap(SectionKinds::reader)
                .filter(reader -> !reader.needed() || hasTarget())
                .isPresent();
    }

    /**
     * The target in the section name. A library without a directory is looked up on this machine.
     *
     * @throws AttachException if the name has no target, or a malformed one
     */
    default AttachTarget attachTarget() {
        return kind().flatMap(SectionKinds::reader)
                .orElseThrow(() -> new AttachException("program \"" + name() + "\" in SEC(\"" + sectionName()
                        + "\") can't be attached by its section name; attach it to a target: program.attach(target)"))
                .read()
                .apply(this);
    }

    /** Whether the program may sleep, and so read user memory that is paged out. */
    default boolean isSleepable() {
        return (flags() & F_SLEEPABLE) != 0;
    }

    /**
     * With another name, and the same function: {@link ObjectSpec#withProgram} then adds it as one more program, for
     * instance for another target.
     *
     * {@snippet :
     * ProgramSpec entry = spec.program("on_entry");
     * for (String function : functions) {
     *     spec = spec.withProgram(entry.withName("on_" + function).withTarget(function));
     * }
     * }
     *
     * <p>A program of {@code SEC("fentry")} has no function itself: leave it out by {@code withAutoload(false)}, and give
     * the copies {@code withAutoload(true)}.
     *
     * <p>All these programs use the same maps and global variables. The kernel knows a program by the first 15 bytes of
     * its name.
     *
     * @param newName no other program of the object has it
     */
    default ProgramSpec withName(String newName) {
        return with("name", newName);
    }

    /**
     * With another section name: {@code withSection("fentry.s/tcp_connect")} sets type, attach type, flags and target
     * at once.
     *
     * @param section as in {@code SEC("…")}
     */
    default ProgramSpec withSection(String section) {
        ProgramSpec fromSection = of(section, function());
        return with("sectionName", fromSection.sectionName())
                .with("kind", fromSection.kind())
                .with("type", fromSection.type())
                .with("attachType", fromSection.attachType())
                .with("flags", fromSection.flags())
                .with("target", fromSection.target())
                .with("autoload", fromSection.autoload())
                .with("autoloadSet", false);
    }

    /** With another type. This drops the kind of the section name, so the program must be attached in code. */
    default ProgramSpec withType(ProgramType newType) {
        return newType == type() ? this : with("type", newType).with("kind", Optional.empty());
    }

    /** With another expected attach type. */
    default ProgramSpec withAttachType(AttachType newAttachType) {
        return with("attachType", Optional.of(newAttachType));
    }

    /** Without an expected attach type. */
    default ProgramSpec withoutAttachType() {
        return with("attachType", Optional.empty());
    }

    /** With these flags instead of the present ones: {@code withFlags(program.flags() | F_SLEEPABLE)} adds one. */
    default ProgramSpec withFlags(int newFlags) {
        return with("flags", newFlags);
    }

    /**
     * With another target, written as after the slash in the section name. {@code fentry}, {@code lsm}, {@code iter}
     * and similar programs are loaded for the target; other programs are attached to it.
     */
    default ProgramSpec withTarget(String newTarget) {
        return with("target", newTarget);
    }

    /**
     * For a network device: to run in it (offload, Linux 4.15), or with {@link #F_XDP_DEV_BOUND_ONLY} to read its
     * packet metadata.
     *
     * @param index as {@code NetworkInterface.getIndex()} returns it
     */
    default ProgramSpec withIfindex(int index) {
        return with("ifindex", index);
    }

    /**
     * Loaded or left out, regardless of its section and of the struct_ops variables that refer to it.
     */
    default ProgramSpec withAutoload(boolean load) {
        return with("autoload", load).with("autoloadSet", true);
    }

    /** Attached by {@code attachAll()}, or left to be attached in code. */
    default ProgramSpec withAutoattach(boolean attach) {
        return with("autoattach", attach);
    }

    /**
     * With its own level of verifier log: 1 for instructions, 2 for every path, 4 for statistics, 0 for no log.
     *
     * @throws IllegalArgumentException if the level is less than 0 or more than 7
     */
    default ProgramSpec withVerifierLog(int level) {
        if (level < 0 || level > 7) {
            throw new IllegalArgumentException("the verifier has no log level " + level);
        }
        return with("verifierLog", OptionalInt.of(level));
    }

    private ProgramSpec with(String component, Object value) {
        return RecordCopy.with(this, ProgramSpecData.class, component, value);
    }
}
