package io.bpf4j.sys.kernel;

/**
 * A version of Linux: three numbers, compared in order. <i>Immutable.</i>
 *
 * <p>Versions are for documentation and messages. They never decide whether a kernel has a feature, because
 * distributions backport and disable features. Feature probes decide.
 *
 * <p>Tested by {@code KernelValuesTest}.
 *
 * @param major such as 6 in 6.18.44
 * @param minor such as 18 in 6.18.44
 * @param patch such as 44 in 6.18.44; 0 if the release string has none
 */
public record KernelVersion(int major, int minor, int patch) implements Comparable<KernelVersion> {
    public KernelVersion {
        if (major < 0 || minor < 0 || patch < 0) {
            throw new IllegalArgumentException(
                    "kernel version with a negative part: " + major + "." + minor + "." + patch);
        }
    }

    public static KernelVersion of(int major, int minor) {
        return new KernelVersion(major, minor, 0);
    }

    /**
     * Reads the start of a release string such as {@code 6.1.0-18-amd64} or {@code 5.15.0}; what follows the numbers is
     * ignored.
     *
     * @throws IllegalArgumentException if it does not start with at least two numbers
     */
    public static KernelVersion parse(String release) {
        int[] parts = new int[3];
        int at = 0;
        int count = 0;
        while (count < parts.length) {
            int start = at;
            int value = 0;
            while (at < release.length() && Character.digit(release.charAt(at), 10) >= 0 && at - start < 9) {
                value = value * 10 + Character.digit(release.charAt(at), 10);
                at++;
            }
            if (at == start) {
                break;
            }
            parts[count++] = value;
            if (at == release.length() || release.charAt(at) != '.') {
                break;
            }
            at++;
        }
        if (count < 2) {
            throw new IllegalArgumentException("not a kernel release: \"" + release + "\"");
        }
        return new KernelVersion(parts[0], parts[1], parts[2]);
    }

    /**
     * The value of the kernel's KERNEL_VERSION macro: {@code major << 16 | minor << 8 | patch}, with a patch above 255
     * shown as 255, as the kernel has done since 4.14.257 and 5.15.9 (commit 9b82f13e7ef3, "kbuild: clamp SUBLEVEL to
     * 255").
     */
    public int code() {
        return major << 16 | minor << 8 | Math.min(patch, 255);
    }

    @Override
    public int compareTo(KernelVersion other) {
        int byMajor = Integer.compare(major, other.major);
        int byMinor = byMajor != 0 ? byMajor : Integer.compare(minor, other.minor);
        return byMinor != 0 ? byMinor : Integer.compare(patch, other.patch);
    }

    @Override
    public String toString() {
        return patch == 0 ? major + "." + minor : major + "." + minor + "." + patch;
    }
}
