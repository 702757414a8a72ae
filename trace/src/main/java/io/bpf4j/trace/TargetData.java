package io.bpf4j.trace;

import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.internal.text.FileName;
import io.bpf4j.sys.Host;
import io.bpf4j.usdt.UsdtScan;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The only implementation of {@link Target}.
 *
 * @param pid empty for a command, and for groups
 * @param groups empty for a process, and for a command
 */
record TargetData(
        OptionalInt pid,
        List<String> line,
        Optional<GroupPattern> groups,
        boolean children,
        boolean holding,
        boolean outputToError)
        implements Target {
    static Target of(GroupPattern groups) {
        return new TargetData(OptionalInt.empty(), List.of(), Optional.of(groups), true, false, false);
    }

    @Override
    public boolean inGroups() {
        return groups.isPresent();
    }

    @Override
    public List<UsdtScan> scan() throws IOException {
        if (groups.isPresent()) {
            try (GroupWatch now = GroupWatch.of(Host.running(), groups.get())) {
                return now.scan();
            }
        }
        if (pid.isPresent()) {
            return List.of(UsdtScan.ofProcess(pid.getAsInt()));
        }
        try {
            return List.of(UsdtScan.ofFile(program().toRealPath()));
        } catch (MalformedDataException e) {
            return List.of(); // a script
        }
    }

    @Override
    public Target withChildren() {
        return new TargetData(pid, line, groups, true, holding, outputToError);
    }

    @Override
    public Target withoutHolding() {
        return new TargetData(pid, line, groups, children, false, outputToError);
    }

    @Override
    public Target withOutputToError() {
        return new TargetData(pid, line, groups, children, holding, true);
    }

    @Override
    public Path program() throws IOException {
        if (line.isEmpty()) {
            throw new IllegalStateException(
                    groups.map(GroupPattern::toString).orElseGet(() -> "process " + pid.orElseThrow())
                            + " is no command");
        }
        return find(line.getFirst(), System.getenv().getOrDefault("PATH", "/usr/bin:/bin"));
    }

    private static Path find(String name, String path) throws IOException {
        if (name.contains("/")) {
            Path file = FileName.of(name).path();
            if (!Files.isRegularFile(file)) {
                throw new IOException(file + ": no such command"
                        + (name.indexOf('\ufffd') < 0
                                ? ""
                                : "; its name is not text in the locale's encoding: give it another one (ln -s)"));
            }
            if (!Files.isExecutable(file)) {
                throw new IOException(file + ": is not executable");
            }
            return file.toAbsolutePath();
        }
        for (String directory : path.split(File.pathSeparator, -1)) {
            Path candidate = FileName.of((directory.isEmpty() ? "." : directory) + "/" + name)
                    .path();
            if (Files.isRegularFile(candidate) && Files.isExecutable(candidate)) {
                return candidate.toAbsolutePath();
            }
        }
        throw new IOException(name + ": no such command in PATH");
    }
}
