package io.bpf4j.loader.link;

/**
 * A place in the order in which the programs of one hook run: tcx and netkit devices (Linux 6.6, 6.7), and control groups
 * (Linux 6.17). <i>Immutable.</i>
 *
 * <p>To put another program in the very place of one, {@link Link#update} its link; the kernel doesn't let a new link
 * take the place of an old one.
 *
 * @param side before or after
 * @param relative what; {@link Nothing} for the whole order
 * @param expectedRevision the revision that the order must have, or the kernel refuses with ESTALE; 0 for any
 */
public record Anchor(Side side, Relative relative, long expectedRevision) {
    /** The side of what it is relative to. */
    public enum Side {
        BEFORE,
        AFTER
    }

    /** What the place is relative to. */
    public sealed interface Relative {}

    /** All programs of the hook: first of all, or last. */
    public record Nothing() implements Relative {}

    /** A link of bpf4j's. */
    public record OfLink(Link link) implements Relative {}

    /** A link by the kernel's id, whoever holds it. */
    public record OfLinkId(int id) implements Relative {}

    /** A program of bpf4j's that is attached without a link. */
    public record OfProgram(ProgramHandle program) implements Relative {}

    /** A program by the kernel's id, attached without a link. */
    public record OfProgramId(int id) implements Relative {}

    /** Before all others. */
    public static Anchor first() {
        return new Anchor(Side.BEFORE, new Nothing(), 0);
    }

    /** After all others: where a link goes by itself. */
    public static Anchor last() {
        return new Anchor(Side.AFTER, new Nothing(), 0);
    }

    public static Anchor before(Link link) {
        return new Anchor(Side.BEFORE, new OfLink(link), 0);
    }

    public static Anchor after(Link link) {
        return new Anchor(Side.AFTER, new OfLink(link), 0);
    }

    /** Before or after whatever else. */
    public static Anchor of(Side side, Relative relative) {
        return new Anchor(side, relative, 0);
    }

    /** The same place, if nobody has changed the order since it had this revision. */
    public Anchor atRevision(long revision) {
        return new Anchor(side, relative, revision);
    }

    /** Whether it is the place that a link gets by itself. */
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
