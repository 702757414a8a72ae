package io.bpf4j.loader.spec;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.ProgramType;
import io.bpf4j.loader.link.AttachTarget;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;

/**
 * A program as an object defines it. <i>Immutable</i>; the {@code with…} methods give an edited copy, which is how an
 * embedder changes a program before the object is loaded.
 *
 * @param name of its function
 * @param sectionName as in {@code SEC("…")}, without a leading {@code ?}
 * @param kind what the section's name says; empty if bpf4j does not know that name, or the type was changed since
 * @param type the program type, {@link ProgramType#UNSPEC} where the section's name does not tell
 * @param attachType expected attach type, empty where the type has none
 * @param flags {@code BPF_F_*} of program load
 * @param target what follows the kind's name in the section's name, without the slash, such as a function; empty if nothing
 *     does
 * @param ifindex index of the network device that the program is made for; 0 for none
 * @param autoload false where the section starts with {@code ?}: loaded only if asked for, or for a struct of functions
 *     that is made
 * @param autoattach whether it is attached with all the others, if the section's name says where to
 * @param verifierLog what the verifier is to tell even of an accepted program, as in {@code BpfLoader.verifierLog}; empty
 *     for what the loader asks for all
 * @param function its entry
 */
public record ProgramSpec(
        String name,
        String sectionName,
        Optional<SectionKind> kind,
        ProgramType type,
        Optional<AttachType> attachType,
        int flags,
        String target,
        int ifindex,
        boolean autoload,
        boolean autoattach,
        OptionalInt verifierLog,
        FunctionSpec function) {
    /** {@code BPF_F_STRICT_ALIGNMENT}: misaligned accesses are refused on every machine (Linux 4.12). */
    public static final int F_STRICT_ALIGNMENT = 1;

    /** {@code BPF_F_ANY_ALIGNMENT}: and taken on every machine (Linux 5.0). */
    public static final int F_ANY_ALIGNMENT = 1 << 1;

    /** {@code BPF_F_TEST_STATE_FREQ}: the verifier keeps a state at each jump, to test it (Linux 5.4). */
    public static final int F_TEST_STATE_FREQ = 1 << 3;

    /** {@code BPF_F_SLEEPABLE}: it may sleep, and so read user memory that is paged out (Linux 5.10). */
    public static final int F_SLEEPABLE = 1 << 4;

    /** {@code BPF_F_XDP_HAS_FRAGS}: it can do with packets in several buffers (Linux 5.18). */
    public static final int F_XDP_HAS_FRAGS = 1 << 5;

    /** {@code BPF_F_XDP_DEV_BOUND_ONLY}: for the device of {@link #ifindex()}, on this machine's processor (Linux 6.3). */
    public static final int F_XDP_DEV_BOUND_ONLY = 1 << 6;

    /** {@code BPF_F_TEST_REG_INVARIANTS}: the verifier fails where it contradicts itself (Linux 6.8). */
    public static final int F_TEST_REG_INVARIANTS = 1 << 7;

    /**
     * A program as the name of its section has it.
     *
     * @param section as in {@code SEC("…")}, with its {@code ?} if it has one
     */
    public static ProgramSpec of(String section, FunctionSpec function) {
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
        return new ProgramSpec(
                function.name(),
                sectionName,
                kind,
                kind.map(SectionKind::type).orElse(ProgramType.UNSPEC),
                kind.flatMap(SectionKind::attachType),
                flags,
                kind.map(k -> k.targetOf(sectionName)).orElse(""),
                0,
                !optional,
                true,
                OptionalInt.empty(),
                function);
    }

    /** Whether more than the kind is said by the section's name, or by {@link #withTarget}. */
    public boolean hasTarget() {
        return !target.isEmpty() || sectionName.indexOf('/') >= 0;
    }

    /**
     * Whether the section's name says where the program goes, be it wrongly: {@code SEC("uprobe/x")} does, {@code
     * SEC("uprobe")} does not, and of {@code SEC("xdp")} no name can.
     */
    public boolean isAttachedBySection() {
        return kind.flatMap(SectionKinds::reader)
                .filter(reader -> !reader.needed() || hasTarget())
                .isPresent();
    }

    /**
     * Where the section's name says that the program goes. A library that is named without its folder is looked for on this
     * machine.
     *
     * @throws AttachException if the name does not say, or says it wrongly
     */
    public AttachTarget attachTarget() {
        return kind.flatMap(SectionKinds::reader)
                .orElseThrow(() -> new AttachException("program \"" + name + "\" in SEC(\"" + sectionName
                        + "\") is not attached by its section's name; attach it to a target: program.attach(target)"))
                .read()
                .apply(this);
    }

    /** Whether it may sleep, and so read user memory that is paged out. */
    public boolean isSleepable() {
        return (flags & F_SLEEPABLE) != 0;
    }

    /**
     * As though the object had the program in another section: {@code withSection("fentry.s/tcp_connect")} says its type, its
     * attach type, its flags and its target at once.
     *
     * @param section as in {@code SEC("…")}
     */
    public ProgramSpec withSection(String section) {
        ProgramSpec there = of(section, function);
        return with(draft -> {
            draft.sectionName = there.sectionName;
            draft.kind = there.kind;
            draft.type = there.type;
            draft.attachType = there.attachType;
            draft.flags = there.flags;
            draft.target = there.target;
            draft.autoload = there.autoload;
        });
    }

    /** With another type. What the section's name said is forgotten with it, so that the program is attached in code. */
    public ProgramSpec withType(ProgramType newType) {
        return newType == type
                ? this
                : with(draft -> {
                    draft.type = newType;
                    draft.kind = Optional.empty();
                });
    }

    /** With another expected attach type, or none. */
    public ProgramSpec withAttachType(Optional<AttachType> newAttachType) {
        return with(draft -> draft.attachType = newAttachType);
    }

    /** With other flags, all of them: {@code withFlags(program.flags() | F_SLEEPABLE)} adds one. */
    public ProgramSpec withFlags(int newFlags) {
        return with(draft -> draft.flags = newFlags);
    }

    /**
     * With another target, written as after the slash in the section's name. It is what {@code fentry}, {@code lsm}, {@code
     * iter} and their like are loaded for, and where the rest of them is attached by name.
     */
    public ProgramSpec withTarget(String newTarget) {
        return with(draft -> draft.target = newTarget);
    }

    /**
     * For a network device: to run in it (offload, Linux 4.15), or with {@link #F_XDP_DEV_BOUND_ONLY} to read what it knows of
     * a packet.
     *
     * @param index as {@code NetworkInterface.getIndex()} has it
     */
    public ProgramSpec withIfindex(int index) {
        return with(draft -> draft.ifindex = index);
    }

    /**
     * Loaded, or left out, whatever its section says. About a program that structs of functions refer to they decide: it is
     * loaded with the first of them that is made; {@code BpfLoader.skipProgram} leaves it out all the same.
     */
    public ProgramSpec withAutoload(boolean load) {
        return with(draft -> draft.autoload = load);
    }

    /** Attached with all the others, or left to be attached in code. */
    public ProgramSpec withAutoattach(boolean attach) {
        return with(draft -> draft.autoattach = attach);
    }

    /**
     * With a verifier's log of a level of its own: 1 instructions, 2 every path, 4 figures, 0 none.
     *
     * @throws IllegalArgumentException if the level is less than 0 or more than 7
     */
    public ProgramSpec withVerifierLog(int level) {
        if (level < 0 || level > 7) {
            throw new IllegalArgumentException("the verifier has no log level " + level);
        }
        return with(draft -> draft.verifierLog = OptionalInt.of(level));
    }

    private ProgramSpec with(Consumer<Draft> change) {
        Draft draft = new Draft(this);
        change.accept(draft);
        return draft.done();
    }

    /** A definition that is being changed. */
    private static final class Draft {
        private final ProgramSpec original;
        private String sectionName;
        private Optional<SectionKind> kind;
        private ProgramType type;
        private Optional<AttachType> attachType;
        private int flags;
        private String target;
        private int ifindex;
        private boolean autoload;
        private boolean autoattach;
        private OptionalInt verifierLog;

        Draft(ProgramSpec original) {
            this.original = original;
            sectionName = original.sectionName;
            kind = original.kind;
            type = original.type;
            attachType = original.attachType;
            flags = original.flags;
            target = original.target;
            ifindex = original.ifindex;
            autoload = original.autoload;
            autoattach = original.autoattach;
            verifierLog = original.verifierLog;
        }

        ProgramSpec done() {
            return new ProgramSpec(
                    original.name,
                    sectionName,
                    kind,
                    type,
                    attachType,
                    flags,
                    target,
                    ifindex,
                    autoload,
                    autoattach,
                    verifierLog,
                    original.function);
        }
    }
}
