package io.bpf4j.loader.feature;

/**
 * Whether a feature is there, and how that was found out. <i>Immutable.</i>
 *
 * @param supported whether it may be used
 * @param reason how that shows, in a few words: what was tried and what the kernel said; "taken away" if the caller did
 *     that
 */
public record Support(boolean supported, String reason) {
    public static Support yes(String reason) {
        return new Support(true, reason);
    }

    public static Support no(String reason) {
        return new Support(false, reason);
    }
}
