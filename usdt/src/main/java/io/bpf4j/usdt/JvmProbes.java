package io.bpf4j.usdt;

import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * HotSpot's probes that fire only in a JVM that was started with a flag, because they have a cost even without a tracer
 * (src/hotspot/share/runtime/globals.hpp: {@code DTraceMethodProbes}, {@code DTraceAllocProbes}, {@code
 * DTraceMonitorProbes}; {@code ExtendedDTraceProbes} sets all three, and was removed in JDK 20).
 *
 * <p>The file contains their sites in any case. Without the flag attaching succeeds, but the probe never fires, so
 * bpf4j gives a hint.
 */
public final class JvmProbes {
    private static final String ALL = "ExtendedDTraceProbes";

    /** The limit for a command line and for an environment; real JVMs have about 10,000 bytes. */
    private static final int MAX_BYTES = 1 << 20;

    /** The variables from which a JVM reads options, in addition to its command line. */
    private static final List<String> VARIABLES = List.of("JAVA_TOOL_OPTIONS=", "_JAVA_OPTIONS=", "JDK_JAVA_OPTIONS=");

    /**
     * An argument file of the launcher ({@code @FILE}, which JDK_JAVA_OPTIONS may name, too), or a file of options of
     * the JVM. An argument of the program that looks like one does no harm.
     */
    private static final Pattern IN_A_FILE = Pattern.compile("[\\x00 =]@|-XX:(?:Flags|VMOptionsFile)=");

    private JvmProbes() {}

    /** The flag that a probe needs, without {@code -XX:+}; empty for most. */
    public static Optional<String> flagFor(UsdtProbe probe) {
        if (!probe.provider().equals("hotspot")) {
            return Optional.empty();
        }
        return switch (probe.name()) {
            case "method__entry", "method__return" -> Optional.of("DTraceMethodProbes");
            case "object__alloc" -> Optional.of("DTraceAllocProbes");
            case String name when name.startsWith("monitor__") -> Optional.of("DTraceMonitorProbes");
            default -> Optional.empty();
        };
    }

    /** A hint for each flag that some of these probes need, whichever JVM runs the file. The subject is the flag. */
    public static List<Diagnostic> hints(Collection<UsdtProbe> probes) {
        return missing(probes, "").stream()
                .map(flag -> hint(probes, flag, " fire only in a JVM that was started with"))
                .toList();
    }

    /**
     * A hint for each flag that some of these probes need and that a process was not started with. If this process may
     * not read the options of that one, or some of them are in a file, it is the hint of {@link #hints(Collection)}.
     */
    public static List<Diagnostic> hints(Collection<UsdtProbe> probes, Host host, int pid) {
        if (missing(probes, "").isEmpty()) {
            return List.of();
        }
        Optional<String> options = options(host.process(pid));
        return options.isEmpty()
                ? hints(probes)
                : missing(probes, options.get()).stream()
                        .map(flag -> hint(probes, flag, " won't fire: process " + pid + " was started without"))
                        .toList();
    }

    private static Diagnostic hint(Collection<UsdtProbe> probes, String flag, String why) {
        return new Diagnostic(
                Diagnostic.Kind.MAY_NOT_FIRE,
                flag,
                "probes such as hotspot:" + example(probes, flag) + why + " -XX:+" + flag);
    }

    private static Set<String> missing(Collection<UsdtProbe> probes, String options) {
        Set<String> missing = new TreeSet<>();
        for (UsdtProbe probe : probes) {
            flagFor(probe)
                    .filter(flag -> !options.contains("-XX:+" + flag) && !options.contains("-XX:+" + ALL))
                    .ifPresent(missing::add);
        }
        return missing;
    }

    private static String example(Collection<UsdtProbe> probes, String flag) {
        return probes.stream()
                .filter(probe -> flagFor(probe).filter(flag::equals).isPresent())
                .findFirst()
                .map(UsdtProbe::name)
                .orElseThrow();
    }

    /** The command line and the variables that contain options; empty if they are not all of the options. */
    private static Optional<String> options(Path process) {
        StringBuilder options = new StringBuilder();
        try {
            options.append(text(process.resolve("cmdline")));
            for (String variable : text(process.resolve("environ")).split("\0", -1)) {
                if (VARIABLES.stream().anyMatch(variable::startsWith)) {
                    options.append('\0').append(variable);
                }
            }
        } catch (IOException e) {
            return Optional.empty();
        }
        // A process that has ended has an empty command line.
        return options.isEmpty() || IN_A_FILE.matcher(options).find()
                ? Optional.empty()
                : Optional.of(options.toString());
    }

    /** A process may declare any part of its memory to be its command line (PR_SET_MM_MAP of prctl(2)). */
    private static String text(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(MAX_BYTES), StandardCharsets.ISO_8859_1);
        }
    }
}
