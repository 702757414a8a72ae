package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Progress;
import io.bpf4j.process.FirstThreads;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.proc.StatusFile;
import io.bpf4j.usdt.ProbePattern;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Scans of files and processes, and their results, for all commands that need them.
 *
 * <p>Tested by {@code CliTest} and {@code CliRightsTest}.
 */
final class Scans {
    private Scans() {}

    /**
     * The files of a process.
     *
     * @throws CommandException if the process does not exist, has mapped no file, or continues without its first thread
     * @throws IOException if this user may not read its files
     */
    static UsdtScan ofProcess(int pid) throws IOException {
        checkProcess(pid);
        if (FirstThreads.hasEnded(pid)) {
            throw new CommandException("the first thread of process " + pid + " has ended, but others run: the kernel"
                    + " shows the files of a process, and installs probes in it, only through its first thread");
        }
        UsdtScan scan = UsdtScan.ofProcess(pid);
        if (scan.files().isEmpty()) {
            throw new CommandException("process " + pid + " has mapped no file: it is ending, or is a kernel thread");
        }
        return scan;
    }

    /** A thread has a folder in /proc like a process, but is not a process. */
    private static void checkProcess(int pid) throws IOException {
        Path process = Host.running().process(pid);
        if (pid <= 0 || !Files.isDirectory(process)) {
            throw new CommandException("no process " + pid
                    + (hidesProcesses() ? " that this user may see: /proc is mounted with the option hidepid" : ""));
        }
        String owner = StatusFile.read(process).field("Tgid");
        if (!owner.isEmpty() && !owner.equals(Integer.toString(pid))) {
            throw new CommandException(pid + " is a thread of process " + owner + ": give -p " + owner);
        }
    }

    /** proc(5): to users other than root, {@code hidepid=2} and {@code invisible} hide the processes of others. */
    private static boolean hidesProcesses() throws IOException {
        // Only a newline ends a line: other users choose the names in it, and the kernel does not escape a carriage
        // return.
        String mounts = Files.readString(Host.running().self().resolve("mounts"), StandardCharsets.ISO_8859_1);
        return Stream.of(mounts.split("\n", -1))
                .anyMatch(line -> line.contains(" /proc proc ") && line.contains("hidepid="));
    }

    /** The files of all processes; reports on standard error what was left out. */
    static UsdtScan ofMachine(Console console) throws IOException {
        UsdtScan machine;
        try (Progress _ = Progress.of(console, "searching the files of all processes")) {
            machine = UsdtScan.ofMachine();
        }
        machine.leftOut().forEach(console::remark);
        return machine;
    }

    /** The probes that match one of the patterns; all probes without a pattern. */
    static UsdtScan matching(UsdtScan scan, List<ProbePattern> patterns) {
        return patterns.isEmpty() ? scan : scan.matching(patterns);
    }

    /** The patterns that match nothing, if several patterns are given: these are most likely typing errors. */
    static List<ProbePattern> unmatched(UsdtScan scan, List<ProbePattern> patterns) {
        return patterns.stream()
                .filter(pattern -> scan.matching(pattern).probes().isEmpty())
                .toList();
    }

    /** The problems of a file that don't concern a single probe: sites of any probe may be missing. */
    static List<Diagnostic> ofNoProbe(UsdtScan.File file) {
        Set<Diagnostic> ofProbes = file.probes().stream()
                .flatMap(probe -> probe.problems().stream())
                .collect(Collectors.toSet());
        return file.problems().stream().filter(p -> !ofProbes.contains(p)).toList();
    }

    /** {@code 1 probe}, {@code 2 probes}. */
    static String count(long number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }
}
