package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.elf.FileName;
import io.bpf4j.loader.host.Host;
import io.bpf4j.usdt.MachineScan;
import io.bpf4j.usdt.ProbePattern;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;

/** Code that {@code list} and {@code trace} share for the results of scans. */
final class Scans {
    private Scans() {}

    /**
     * The files of a process.
     *
     * @throws CommandException if the process does not exist or has no files
     * @throws IOException if it may not be read
     */
    static List<UsdtScan> ofProcess(int pid) throws IOException {
        checkProcess(pid);
        List<UsdtScan> scans = UsdtScan.ofProcess(Host.running(), pid);
        if (scans.isEmpty()) {
            throw new CommandException("process " + pid + " runs no file: it is ending, or a thread of the kernel");
        }
        return scans;
    }

    /** A thread has a folder in /proc like a process, but is not a process. */
    private static void checkProcess(int pid) throws IOException {
        Path process = Host.running().process(pid);
        if (pid <= 0 || !Files.isDirectory(process)) {
            throw new CommandException("no process " + pid
                    + (hidesProcesses() ? " that this user may see: /proc is mounted with the option hidepid" : ""));
        }
        String owner = Files.readAllLines(process.resolve("status"), StandardCharsets.ISO_8859_1).stream()
                .filter(line -> line.startsWith("Tgid:"))
                .map(line -> line.substring("Tgid:".length()).strip())
                .findFirst()
                .orElse("");
        if (!owner.isEmpty() && !owner.equals(Integer.toString(pid))) {
            throw new CommandException(pid + " is a thread of process " + owner + ": give -p " + owner);
        }
    }

    /** proc(5): to users other than root, {@code hidepid=2} and {@code invisible} hide the processes of others. */
    private static boolean hidesProcesses() throws IOException {
        return Files.readAllLines(Host.running().self().resolve("mounts"), StandardCharsets.ISO_8859_1).stream()
                .anyMatch(line -> line.contains(" /proc proc ") && line.contains("hidepid="));
    }

    /** The files of all processes; reports on standard error what was left out. */
    static MachineScan ofMachine(Console console) throws IOException {
        MachineScan machine = MachineScan.of(Host.running());
        if (machine.unreadable() > 0) {
            console.error("bpf4j: " + machine.unreadable() + (machine.unreadable() == 1 ? " process" : " processes")
                    + " left out: no permission to look into them");
        }
        machine.problems().forEach(problem -> console.error("bpf4j: " + problem));
        return machine;
    }

    /** The probes that match one of the patterns, in the order of the file; all probes without a pattern. */
    static List<UsdtProbe> matching(UsdtScan scan, List<ProbePattern> patterns) {
        return patterns.isEmpty() ? scan.probes() : scan.matching(patterns);
    }

    /** The patterns without a match in any file, if several patterns are given: most likely typing errors. */
    static List<ProbePattern> unmatched(List<UsdtScan> scans, List<ProbePattern> patterns) {
        return patterns.stream()
                .filter(pattern ->
                        scans.stream().allMatch(scan -> scan.matching(pattern).isEmpty()))
                .toList();
    }

    /** The problems of a file that don't concern a single probe: sites of any probe may be missing. */
    static List<String> ofNoProbe(UsdtScan scan) {
        Set<String> ofProbes = scan.probes().stream()
                .flatMap(probe -> probe.problems().stream())
                .collect(Collectors.toSet());
        return scan.problems().stream().filter(p -> !ofProbes.contains(p)).toList();
    }

    /**
     * The reason why nothing was found, in one line.
     *
     * @param process the process whose files were scanned; empty if files were given
     */
    static String whyNone(List<UsdtScan> scans, List<ProbePattern> patterns, OptionalInt process) {
        return UsdtScan.diagnose(
                scans,
                patterns.isEmpty() ? ProbePattern.ALL : patterns.getFirst(),
                process.isPresent() ? name(process.getAsInt()) : "");
    }

    /** {@code process 4711 (postgres)}: its pid and its command, as ps shows them. */
    private static String name(int pid) {
        try {
            byte[] command = Files.readAllBytes(Host.running().process(pid).resolve("comm"));
            return "process " + pid + " (" + FileName.of(command, 0, Math.max(0, command.length - 1)) + ")";
        } catch (IOException e) {
            return "process " + pid; // it ended
        }
    }

    /** {@code 1 probe}, {@code 2 probes}. */
    static String count(long number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }
}
