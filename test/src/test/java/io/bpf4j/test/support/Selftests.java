package io.bpf4j.test.support;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.error.VerifierException;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Loads programs one by one, as veristat of the kernel's selftests does, and compares with what that said: see {@code
 * test/libbpf/selftests}. For a run by hand, since it needs hundreds of megabytes of sources.
 */
public final class Selftests {
    private static final Pattern FIGURES =
            Pattern.compile("processed (\\d+) insns .*?total_states (\\d+)", Pattern.DOTALL);

    /** Maps that have no number of entries; veristat gives all others one where they have none. */
    private static final Set<MapType> UNSIZED =
            Set.of(MapType.SK_STORAGE, MapType.TASK_STORAGE, MapType.INODE_STORAGE, MapType.CGROUP_STORAGE);

    private final Map<String, Verdict> libbpfs;
    private final Map<String, Integer> counts = new TreeMap<>();
    private int problems;

    /** Whether the kernel took a program, and what the verifier counted. */
    private record Verdict(boolean loaded, String figures, String message) {}

    private Selftests(Map<String, Verdict> libbpfs) {
        this.libbpfs = libbpfs;
    }

    /** Takes veristat's CSV (file, program, verdict, instructions, states) and the folder of the objects. */
    public static void main(String[] arguments) throws IOException {
        Map<String, Verdict> libbpfs = new HashMap<>();
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            String[] columns = line.split(",", -1);
            if (columns.length == 5) {
                libbpfs.put(
                        columns[0] + " " + columns[1],
                        new Verdict(columns[2].equals("success"), columns[3] + "/" + columns[4], ""));
            }
        }
        Selftests comparison = new Selftests(libbpfs);
        try (var objects = Files.list(Path.of(arguments[1]))) {
            for (Path object : objects.sorted().toList()) {
                comparison.compare(object);
            }
        }
        comparison.counts.forEach((what, count) -> System.out.printf("%6d %s%n", count, what));
        System.exit(comparison.problems == 0 && !libbpfs.isEmpty() ? 0 : 1);
    }

    private void compare(Path file) throws IOException {
        ObjectSpec spec;
        try {
            spec = ObjectSpec.read(file);
        } catch (RuntimeException e) {
            if (libbpfs.keySet().stream().anyMatch(key -> key.startsWith(file.getFileName() + " "))) {
                problem(file + " can't be read: " + e.getMessage());
            }
            return;
        }
        for (ProgramSpec program : spec.programs()) {
            String key = file.getFileName() + " " + program.name();
            Verdict libbpfs = this.libbpfs.get(key);
            if (libbpfs == null) {
                count("unknown to libbpf");
            } else if (program.type() == ProgramType.EXT) {
                // veristat loads these as what it guesses their target to be.
                count("replacements of functions, not compared");
            } else {
                compare(key, spec, libbpfs, load(spec, program));
            }
        }
    }

    private void compare(String key, ObjectSpec spec, Verdict libbpfs, Verdict ours) {
        if (libbpfs.loaded() && !ours.loaded()) {
            problem(key + ": libbpf loads it: " + ours.message());
        } else if (!libbpfs.loaded() && ours.loaded()) {
            problem(key + ": libbpf doesn't load it");
        } else if (!ours.loaded()) {
            count("refused by both");
        } else if (libbpfs.figures().equals(ours.figures())) {
            count("loaded by both, with the same figures");
        } else if (spec.findExtern("LINUX_HAS_SYSCALL_WRAPPER").isPresent()) {
            // libbpf asks a kprobe, which says no where there are none.
            count("loaded by both, with another answer about system call wrappers");
        } else {
            problem(key + ": instructions/states " + ours.figures() + ", by libbpf " + libbpfs.figures());
        }
    }

    private void count(String what) {
        counts.merge(what, 1, Integer::sum);
    }

    private void problem(String text) {
        problems++;
        System.out.println(text);
    }

    private static Verdict load(ObjectSpec spec, ProgramSpec program) {
        BpfLoader loader = BpfLoader.of(spec)
                .program(program.name(), p -> p.withAutoload(true))
                .verifierLog(4);
        for (ProgramSpec other : spec.programs()) {
            if (!other.name().equals(program.name())) {
                loader.program(other.name(), p -> p.withAutoload(false));
            }
        }
        for (MapSpec map : spec.maps()) {
            boolean sized = map.type().map(type -> !UNSIZED.contains(type)).orElse(true);
            loader.map(map.name(), m -> m.withPinByName(false));
            if (sized && map.maxEntries() == 0) {
                loader.map(map.name(), m -> m.withMaxEntries(1));
            }
        }
        try (BpfObject object = loader.load()) {
            return new Verdict(true, figures(object.program(program.name()).verifierLog()), "");
        } catch (VerifierException e) {
            return new Verdict(false, figures(e.log()), Objects.requireNonNullElse(e.getMessage(), ""));
        } catch (BpfException e) {
            return new Verdict(false, "", Objects.requireNonNullElse(e.getMessage(), ""));
        }
    }

    /** Instructions and states; the last of several. */
    private static String figures(String log) {
        String figures = "0/0";
        Matcher matcher = FIGURES.matcher(log);
        while (matcher.find()) {
            figures = matcher.group(1) + "/" + matcher.group(2);
        }
        return figures;
    }
}
