package io.bpf4j.loader.link;

/**
 * A place in the order in which the programs of one hook run: tcx and netkit devices (Linux 6.6, 6.7), and control
 * groups (Linux 6.17). <i>Immutable.</i>
 *
 * <p>To replace a program at its place, {@link Link#update} its link. The kernel doesn't let a new link take the place
 * of an old one.
 *
 * @param side before or after
 * @param relative the link or program that the place is relative to; {@link Nothing} for the whole order
 * @param expectedRevision the revision that the order must have, otherwise the kernel refuses with ESTALE; 0 for any
 */
public record Anchor(Side side, Relative relative, long expectedRevision) {
    /** The side of the relative link or program. */
    public enum Side {
        BEFORE,
        AFTER
    }

    /** The link or program that the place is relative to. */
    public sealed interface Relative {}

    /** All programs of the hook: the place is the first or the last. */
    public record Nothing() implements Relative {}

    /** A link that bpf4j opened. */
    public record OfLink(Link link) implements Relative {}

    /** A link of any process, by the kernel's id. */
    public record OfLinkId(int id) implements Relative {}

    /** A program that bpf4j loaded, attached without a link. */
    public record OfProgram(ProgramHandle program) implements Relative {}

    /** A program by the kernel's id, attached without a link. */
    public record OfProgramId(int id) implements Relative {}

    /** Before all others. */
    public static Anchor first() {
        return new Anchor(Side.BEFORE, new Nothing(), 0);
    }

    /** After all others: the default place of a link. */
    public static Anchor last() {
        return new Anchor(Side.AFTER, new Nothing(), 0);
    }

    public static Anchor before(Link link) {
        return new Anchor(Side.BEFORE, new OfLink(link), 0);
    }

    public static Anchor after(Link link) {
        return new Anchor(Side.AFTER, new OfLink(link), 0);
    }

    /** Before or after any link or program. */
    public static Anchor of(Side side, Relative relative) {
        return new Anchor(side, relative, 0);
    }

    /** The same place, if the order still has this revision. */
    public Anchor atRevision(long revision) {
        return new Anchor(side, relative, revision);
    }

    /** Whether this is the default place of a link. */
    public boolean isDefault() {
        return equals(last());
    }

    /** For messages: empty at the default place. */
    String suffix() {
        if (isDefault()) {
            return "";
        }
        String word = side == Side.BEFORE ? "before " : "after ";
        return switch (relative) {
            case Nothing _ -> side == Side.BEFORE ? ", first" : "";
            case OfLink of -> ", " + word + of.link().description();
            case OfLinkId of -> ", " + word + "link " + of.id();
            case OfProgram of -> ", " + word + of.program().name();
            case OfProgramId of -> ", " + word + "program " + of.id();
        };
    }
}
