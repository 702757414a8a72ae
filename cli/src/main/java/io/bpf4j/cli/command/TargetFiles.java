package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Text;
import io.bpf4j.cli.trace.Words;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.process.hold.HeldCommand;
import io.bpf4j.trace.Target;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Finds what the options select before anything is attached: the processes that are followed, and the files that are
 * searched for probes now.
 *
 * <p>Tested by {@code CliTraceTest} and {@code CliFilesOfProcessTest}.
 */
final class TargetFiles {
    private final Console console;
    private final TargetOptions options;

    TargetFiles(Console console, TargetOptions options) {
        this.console = console;
        this.options = options;
    }

    /** The processes in which code may appear; empty if none may. */
    Optional<Target> followed() {
        return options.filesMayAppear() ? Optional.of(target()) : Optional.empty();
    }

    /** The files that exist now. */
    List<UsdtScan> now(Optional<Target> followed) throws IOException {
        OptionalInt process = options.process();
        if (process.isPresent()) {
            return ofProcess(process.getAsInt());
        }
        if (followed.isEmpty() || !options.files().isEmpty()) {
            return named();
        }
        List<UsdtScan> scans = followed.get().scan();
        if (options.groups().isPresent() && scans.isEmpty()) {
            console.remark(
                    "no process is in the control groups of " + options.processes() + " so far: waiting for one");
        }
        return scans;
    }

    private Target target() {
        if (options.groups().isPresent()) {
            return options.groups().get();
        }
        Target target = options.command().isPresent()
                ? command(options.command().get())
                : Target.process(options.process().orElseThrow());
        target = options.follow() ? target.withChildren() : target;
        return options.hold() ? target : target.withoutHolding();
    }

    private Target command(String line) {
        try {
            Target command = Target.command(Words.split(line));
            List<String> lost = HeldCommand.variablesThatMayBeLost();
            if (!lost.isEmpty()) {
                console.remark("the command may not get the environment variables "
                        + Text.printable(String.join(", ", lost))
                        + ": /bin/sh starts it, and most shells pass only names of"
                        + " letters, digits and _ on; bash passes all");
            }
            return options.json() ? command.withOutputToError() : command;
        } catch (IllegalArgumentException e) {
            throw new UsageException("-c: " + e.getMessage());
        }
    }

    /** The files of a process, or those on the command line, as the process has them. */
    private List<UsdtScan> ofProcess(int pid) throws IOException {
        UsdtScan all;
        try {
            all = Scans.ofProcess(pid);
        } catch (IOException e) {
            if (options.files().isEmpty()) {
                throw e;
            }
            return named(); // files can be attached to without permission to read the mappings
        }
        FilesOfProcess files = new FilesOfProcess(pid, all);
        options.locateFiles(files::locate);
        if (!options.follow()) {
            Set<FileIdentity> named =
                    new HashSet<>(); // a file may have several names, as a relative and an absolute one
            options.functions().stream()
                    .flatMap(function -> function.file().stream())
                    .filter(file -> !files.isMapped(file)
                            && FilesOfProcess.identity(file).filter(named::add).isPresent())
                    .forEach(file ->
                            console.remark("process " + pid + " has not mapped " + Text.printable(file.toString())
                                    + ": probes in this file fire only if the process maps it later"));
        }
        return options.files().isEmpty() ? List.of(all) : named();
    }

    private List<UsdtScan> named() throws IOException {
        if (options.all()) {
            console.remark(
                    "--all selects the files that processes have mapped so far: files that are first mapped later, such as by programs that start later, are not traced");
            return List.of(Scans.ofMachine(console));
        }
        List<UsdtScan> scans = new ArrayList<>();
        for (Path file : options.files()) {
            scans.add(UsdtScan.ofFile(Operands.check(file)));
        }
        return scans;
    }
}
