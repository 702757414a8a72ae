package io.bpf4j.test.usdt;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.HOTSPOT_PROBES;
import static io.bpf4j.test.support.Requirement.READELF;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.test.support.ChildJvm;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What is found in files, with {@code readelf -n} as the second opinion. Needs no root. */
@ExtendWith(LeakCheck.class)
class UsdtDiscoveryTest {
    /** Temurin 25 for x86-64, as counted with readelf. */
    private static final int SITES_OF_TEMURIN_25 = 566;

    private static final int PROBES_OF_TEMURIN_25 = 523;

    /** So many files one grep reads: all of /usr/lib, gigabytes, would take it minutes on a busy machine. */
    private static final int FILES_OF_A_GREP = 100;

    private static final Pattern NOTE = Pattern.compile(
            "Provider: (\\S*)\\s+Name: (\\S*)\\s+Location: 0x([0-9a-f]+), Base: 0x[0-9a-f]+, Semaphore: 0x([0-9a-f]+)"
                    + "\\s+Arguments:([^\\n]*)");

    /** One note, as both sides can tell it. Comparable as text. */
    private static String note(String provider, String name, long address, long semaphore, String arguments) {
        return "%s:%s at %x semaphore %x (%s)".formatted(provider, name, address, semaphore, arguments.strip());
    }

    private static List<String> byReadelf(Path file) throws IOException, InterruptedException {
        List<String> notes = new ArrayList<>();
        Matcher matcher = NOTE.matcher(
                Commands.run(List.of("readelf", "-nW", file.toString())).out());
        while (matcher.find()) {
            notes.add(note(
                    matcher.group(1),
                    matcher.group(2),
                    Long.parseUnsignedLong(matcher.group(3), 16),
                    Long.parseUnsignedLong(matcher.group(4), 16),
                    matcher.group(5)));
        }
        return notes;
    }

    private static List<String> byUs(Path file) throws IOException {
        return UsdtScan.ofFile(file).probes().stream()
                .flatMap(probe -> probe.sites().stream()
                        .map(site -> note(
                                probe.provider(),
                                probe.name(),
                                site.address(),
                                site.semaphoreAddress(),
                                site.arguments())))
                .toList();
    }

    @Test
    @Requires({HOTSPOT_PROBES, READELF})
    void theProbesOfLibjvmAreThoseThatReadelfShows() throws IOException, InterruptedException {
        List<String> ours = byUs(ChildJvm.libjvm());

        assertThat(ours).containsExactlyInAnyOrderElementsOf(byReadelf(ChildJvm.libjvm()));
        boolean temurin25 = System.getProperty("java.vendor").contains("Adoptium")
                && System.getProperty("java.specification.version").equals("25")
                && System.getProperty("os.arch").equals("amd64");
        if (temurin25) {
            assertThat(ours).hasSize(SITES_OF_TEMURIN_25);
            assertThat(UsdtScan.ofFile(ChildJvm.libjvm()).probes()).hasSize(PROBES_OF_TEMURIN_25);
        }
    }

    @Test
    @Requires({GCC, SDT_H, ASSEMBLER, READELF})
    void theProbesOfOurTargetAreThoseThatReadelfShows() throws IOException, InterruptedException {
        for (String flags : List.of("-O0", "-O2", "-O2 -no-pie")) {
            Path program = TargetProgram.compile(flags.split(" "));
            assertThat(byUs(program)).hasSizeGreaterThan(1000).containsExactlyInAnyOrderElementsOf(byReadelf(program));
        }
    }

    @Test
    @Requires({GCC, SDT_H, ASSEMBLER, READELF})
    void notesThatWereStrippedOffIntoTheDebugFileAreTold(@TempDir Path folder)
            throws IOException, InterruptedException {
        String program = Files.copy(TargetProgram.compile("-O2"), folder.resolve("program"))
                .toString();
        Commands.check(List.of("objcopy", "--only-keep-debug", program, program + ".debug"));
        Commands.check(List.of("objcopy", "--remove-section=.note.stapsdt", program));
        UsdtScan alone = UsdtScan.ofFile(Path.of(program));
        assertThat(alone.probes()).isEmpty();
        assertThat(alone.files().getFirst().problems()).isEmpty();
        Commands.check(List.of("objcopy", "--add-gnu-debuglink=" + program + ".debug", program));
        UsdtScan linked = UsdtScan.ofFile(Path.of(program));
        assertThat(linked.probes()).isEmpty();
        assertThat(linked.whyNone())
                .contains("no USDT probes in " + program, "notes were stripped into " + program + ".debug");
    }

    /** Every ELF file of the machine ends in a result, and those with probes have what readelf shows. */
    @Test
    @Requires(READELF)
    void everyElfFileOfThisMachineEndsCleanly() throws IOException, InterruptedException {
        TreeMap<Path, String> failures = new TreeMap<>();
        TreeSet<Path> withProbes = new TreeSet<>();
        Map<Path, FileIdentity> files = elfFiles();
        for (Path file : files.keySet()) {
            try {
                UsdtScan.File scan = UsdtScan.ofFile(file).files().getFirst();
                if (!scan.problems().isEmpty()) {
                    failures.put(file, scan.problems().toString());
                }
                if (!scan.probes().isEmpty()) {
                    withProbes.add(file);
                }
            } catch (IOException | RuntimeException e) {
                failures.put(file, e.toString());
            }
        }
        failures.keySet().removeIf(file -> hasChanged(file, files));
        assertThat(failures).isEmpty();
        assertThat(files).hasSizeGreaterThan(100);

        // readelf for all files would take minutes: only those where the name of the note's owner occurs at all.
        TreeSet<Path> candidates = new TreeSet<>(withProbes);
        candidates.addAll(withOwner(List.copyOf(files.keySet())));
        for (Path file : candidates) {
            try {
                assertThat(byUs(file)).as(file.toString()).containsExactlyInAnyOrderElementsOf(byReadelf(file));
            } catch (IOException | RuntimeException | AssertionError e) {
                if (!hasChanged(file, files)) {
                    throw e;
                }
            }
        }
    }

    /** Those in which the name of the notes' owner occurs. */
    private static List<Path> withOwner(List<Path> files) throws IOException, InterruptedException {
        List<Path> found = new ArrayList<>();
        for (int start = 0; start < files.size(); start += FILES_OF_A_GREP) {
            // -s: of files that are gone meanwhile it says nothing.
            List<String> command = new ArrayList<>(List.of("grep", "-lsF", "-e", "stapsdt", "--"));
            files.subList(start, Math.min(files.size(), start + FILES_OF_A_GREP))
                    .forEach(file -> command.add(file.toString()));
            Commands.run(command).out().lines().map(Path::of).forEach(found::add);
        }
        return found;
    }

    /** Others may install packages meanwhile: of a file that is gone, or another one by now, nothing can be said. */
    private static boolean hasChanged(Path file, Map<Path, FileIdentity> before) {
        try {
            return !FileIdentity.of(file).equals(before.get(file));
        } catch (IOException e) {
            return true;
        }
    }

    private static Map<Path, FileIdentity> elfFiles() throws IOException {
        Map<Path, FileIdentity> files = new TreeMap<>();
        for (String folder : List.of("/usr/bin", "/usr/lib")) {
            Files.walkFileTree(Path.of(folder), new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    if (attributes.isRegularFile() && !isUnpacked(file) && isElf(file)) {
                        try {
                            files.put(file, FileIdentity.of(file));
                        } catch (IOException e) {
                            return FileVisitResult.CONTINUE; // gone meanwhile
                        }
                    }
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException e) {
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e) {
                    return FileVisitResult.CONTINUE;
                }
            });
        }
        return files;
    }

    /** dpkg writes a file under such a name, and renames it when it is complete. */
    private static boolean isUnpacked(Path file) {
        return String.valueOf(file.getFileName()).contains(".dpkg-");
    }

    private static boolean isElf(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return Arrays.equals(in.readNBytes(4), new byte[] {0x7f, 'E', 'L', 'F'});
        } catch (IOException e) {
            return false;
        }
    }
}
