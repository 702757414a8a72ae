package io.bpf4j.cli.export;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.ErrorText;
import io.bpf4j.loader.RunStatistics;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Whether the kernel measures how often and how long BPF programs run: because this process has enabled that, or
 * because an administrator has set {@code kernel.bpf_stats_enabled}. <i>Thread-safe.</i> Closing it undoes what this
 * process has enabled.
 *
 * <p>Tested by {@code ProgramStatisticsTest} and {@code CliExportTest}.
 */
public final class ProgramStatistics implements AutoCloseable {
    private final Optional<RunStatistics> own;
    private final Path setting;

    private ProgramStatistics(Optional<RunStatistics> own, Path setting) {
        this.own = own;
        this.setting = setting;
    }

    /**
     * Makes the kernel measure all programs of the machine (Linux 5.8), unless it does so already (5.1).
     *
     * @throws CommandException if the kernel does not measure them, and this process may not enable it
     */
    public static ProgramStatistics start(Host host) {
        return start(() -> RunStatistics.enable(host), host.proc().resolve("sys/kernel/bpf_stats_enabled"));
    }

    static ProgramStatistics start(Supplier<RunStatistics> enable, Path setting) {
        try {
            return new ProgramStatistics(Optional.of(enable.get()), setting);
        } catch (BpfException e) {
            if (isSet(setting)) {
                return new ProgramStatistics(Optional.empty(), setting);
            }
            throw new CommandException(
                    "the kernel does not measure how long BPF programs run, and this process can't enable that: "
                            + ErrorText.of(e)
                            + "; it needs CAP_SYS_ADMIN, or an administrator who sets sysctl kernel.bpf_stats_enabled=1",
                    e);
        }
    }

    private static boolean isSet(Path setting) {
        try {
            return Files.readString(setting).strip().equals("1");
        } catch (IOException e) {
            return false; // before Linux 5.1
        }
    }

    /** Whether the kernel measures now: an administrator may have changed the setting. */
    public boolean areOn() {
        return own.isPresent() || isSet(setting);
    }

    @Override
    public void close() {
        own.ifPresent(RunStatistics::close);
    }
}
