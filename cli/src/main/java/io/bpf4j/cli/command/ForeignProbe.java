package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Probes of bpftrace and DTrace that are not USDT probes, but have the form of one: {@code kprobe:vfs_read} would be a
 * probe of a provider {@code kprobe}. A probe of a file with such a provider is written with the file: {@code
 * usdt:FILE:kprobe:NAME}.
 *
 * <p>Sources: bpftrace's language reference, section Probes; DTrace's guide, chapter pid Provider.
 *
 * <p>Tested by {@code CliUsageTest}.
 */
final class ForeignProbe {
    private static final Pattern OF_KERNEL =
            Pattern.compile("(kprobe|kretprobe|kfunc|kretfunc|fentry|fexit|tracepoint|rawtracepoint|iter):[^/]+"
                    // Providers of DTrace.
                    + "|(fbt|syscall):[^:/]*:[^:/]*:(entry|return)?");

    /** Clocks and counters of bpftrace: {@code profile:hz:99}, {@code software:page-faults:100}. */
    private static final Pattern OF_CLOCK =
            Pattern.compile("(profile|interval):(hz|us|ms|s):\\d+|(software|hardware):[^:/]+:\\d*");

    /**
     * Several probes, each with a provider and a name. Commas in braces separate the alternatives of one pattern, and a
     * name of C++ may have commas, too: {@code u:f<int,std::string>}.
     */
    private static final Pattern WITH_COMMAS = Pattern.compile("[^,:{}]+:(?!:)[^,{}]+(,[^,:{}]+:(?!:)[^,{}]+)+");

    /** DTrace's functions of a process: {@code pid4711:libc.so.6:malloc:entry}. */
    private static final Pattern OF_PROCESS = Pattern.compile("pid([0-9]+|\\$target):([^:]*):([^:]+):(entry|return)");

    private ForeignProbe() {}

    /** Whether an operand is a list of several probes, separated by commas. */
    static boolean isList(String operand) {
        return WITH_COMMAS.matcher(operand).matches();
    }

    /** @throws UsageException if an operand is such a probe; the message names the alternative */
    static void check(String operand) {
        if (OF_KERNEL.matcher(operand).matches()) {
            throw new UsageException("'" + operand + "' is a probe of the kernel; this command attaches to USDT probes,"
                    + " PROVIDER:NAME, and to functions of programs, u:NAME and ur:NAME");
        }
        if (OF_CLOCK.matcher(operand).matches()) {
            throw new UsageException("'" + operand + "' is a timer or counter event; this command attaches to USDT"
                    + " probes, PROVIDER:NAME, and to functions of programs, u:NAME and ur:NAME");
        }
        Matcher function = OF_PROCESS.matcher(operand);
        if (function.matches()) {
            String process = function.group(1).equals("$target") ? "PID" : function.group(1);
            String library = function.group(2).isEmpty() ? "" : function.group(2) + ":";
            String kind = function.group(4).equals("entry") ? "u:" : "ur:";
            throw new UsageException(
                    "write '" + operand + "' as -p " + process + " " + kind + library + function.group(3));
        }
    }
}
