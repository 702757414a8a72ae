package io.bpf4j.loader.link;

/**
 * A place in the order in which the programs of one hook run: tcx and netkit devices (Linux 6.6, 6.7), and control
 * groups (Linux 6.17). <i>Immutable.</i>
 *
 * <p>To replace a program at its place, {@link Link#update} its link. The kernel doesn't let a new link take the place
 * of an old one.
 *
 * <p>Tested by {@code LinkTargetGoldenTest} and {@code HooksOnKernelTest}.
 */
public sealed interface Anchor {
    Side side();

    /** The link or program that the place is relative to; {@link Nothing} for the whole order. */
    Relative relative();

    /** The revision that the order must have, otherwise the kernel refuses with ESTALE; 0 for any. */
    long expectedRevision();

    /** The side of the relative link or program. */
    enum Side {
        BEFORE,
        AFTER
    }

    /** The link or program that the place is relative to. */
    sealed interface Relative {}

    /** All programs of the hook: the place is the first or the last. */
    record Nothing() implements Relative {}

    /** A link that bpf4j opened. */
    record OfLink(Link link) implements Relative {}

    /** A link of any process, by the kernel's id. */
    record OfLinkId(int id) implements Relative {}

    /** A program that bpf4j loaded, attached without a link. */
    record OfProgram(ProgramHandle program) implements Relative {}

    /** A program by the kernel's id, attached without a link. */
    record OfProgramId(int id) implements Relative {}

    /** Before all others. */
    static Anchor first() {
        return new AnchorData(Side.BEFORE, new Nothing(), 0);
    }

    /** After all others: the default place of a link. */
    static Anchor last() {
        return new AnchorData(Side.AFTER, new Nothing(), 0);
    }

    static Anchor before(Link link) {
        return new AnchorData(Side.BEFORE, new OfLink(link), 0);
    }

    static Anchor after(Link link) {
        return new AnchorData(Side.AFTER, new OfLink(link), 0);
    }

    /** Before or after any link or program. */
    static Anchor of(Side side, Relative relative) {
        return new AnchorData(side, relative, 0);
    }

    /** The same place, if the order still has this revision. */
    default Anchor atRevision(long revision) {
        return new AnchorData(side(), relative(), revision);
    }

    /** Whether this is the default place of a link. */
    default boolean isDefault() {
        return equals(last());
    }

    /** For messages: empty at the default place. */
    default String suffix() {
        if (isDefault()) {
            return "";
        }
        String word = side() == Side.BEFORE ? "before " : "after ";
        return switch (relative()) {
            case Nothing _ -> side() == Side.BEFORE ? ", first" : "";
            case OfLink of -> ", " + word + of.link().description();
            case OfLinkId of -> ", " + word + "link " + of.id();
            case OfProgram of -> ", " + word + of.program().name();
            case OfProgramId of -> ", " + word + "program " + of.id();
        };
    }
}

record AnchorData(Side side, Relative relative, long expectedRevision) implements Anchor {}
