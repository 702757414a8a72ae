package io.bpf4j.sys;

import io.bpf4j.sys.kernel.KernelVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The version of a kernel, equal to LINUX_VERSION_CODE in its headers.
 *
 * <p>It is usually the release from uname(2). Two distributions report their own number there, which stays at {@code
 * .0}, and report the real version elsewhere: Ubuntu in /proc/version_signature ({@code Ubuntu 5.4.0-12.15-generic
 * 5.4.8}, the last word), Debian in the version of uname ({@code #1 SMP Debian 4.19.304-1 (2024-01-09)}).
 *
 * <p>Tested by {@code LinuxFilesTest}.
 */
final class LinuxVersion {
    private static final Pattern DEBIAN = Pattern.compile("Debian (\\d+\\.\\d+\\.\\d+)");

    private LinuxVersion() {}

    /** Reads below the given directory, {@code /proc} or a fixture. */
    static KernelVersion read(Path proc) {
        String signature = text(proc.resolve("version_signature"));
        int lastWord = signature.lastIndexOf(' ');
        if (lastWord >= 0) {
            return KernelVersion.parse(signature.substring(lastWord + 1));
        }
        Matcher debian = DEBIAN.matcher(text(proc.resolve("sys/kernel/version")));
        if (debian.find()) {
            return KernelVersion.parse(debian.group(1));
        }
        return KernelVersion.parse(release(proc));
    }

    /** The release from uname(2). */
    static String release(Path proc) {
        try {
            return Files.readString(proc.resolve("sys/kernel/osrelease")).strip();
        } catch (IOException e) {
            return System.getProperty("os.version", "");
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return "";
        }
    }
}
