package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.InputFile;
import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.loader.link.LibrarySearch;
import io.bpf4j.usdt.ProbePattern;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The files and the probe patterns among the operands of {@code list} and {@code trace}.
 *
 * <p>The notations of other tools are supported, too. An operand has one of these forms:
 *
 * <ul>
 *   <li>a file: a path, an entry of an archive ({@code base.apk!/lib/x.so}), or the bare name of a library or program
 *   <li>{@code PROVIDER:NAME}
 *   <li>DTrace's {@code PROVIDER:MODULE:FUNCTION:NAME} and {@code MODULE:FUNCTION:NAME}, where an empty part matches
 *       everything. A number at the end of the provider is a process; {@code $target} in its place is the process of
 *       {@code -p} or {@code -c}. Without process and file the pattern applies to all processes, as in DTrace
 *   <li>bpftrace's and bcc's {@code usdt:FILE:PROVIDER:NAME}, {@code usdt:FILE:NAME}, bcc's {@code
 *       u:FILE:PROVIDER:NAME}, and the same without the first part, if the file has a slash
 * </ul>
 *
 * <i>Immutable.</i>
 *
 * @param files each once, those of {@code ofFiles} among them
 * @param ofAllFiles the patterns that are looked up in each file
 * @param ofFiles the patterns that are written with a file, and looked up in this file only
 * @param processes the processes in names of DTrace's form
 */
record Operands(
        List<Path> files,
        List<ProbePattern> ofAllFiles,
        List<OfFile> ofFiles,
        Set<Integer> processes,
        Set<Dtrace> forms) {
    private static final Pattern RAW_BYTE = Pattern.compile("\\\\x([89a-f][0-9a-f])");

    /** A pattern for the probes of one file: {@code usdt:FILE:PROVIDER:NAME}. */
    record OfFile(Path file, ProbePattern pattern) {}

    /** The processes that names in DTrace's form select. */
    enum Dtrace {
        /** All processes, unless a process or file is given. */
        EVERYWHERE,
        /** The process of {@code -p} or {@code -c}. */
        TARGET
    }

    static Operands of(List<String> operands) {
        Set<Path> files = new LinkedHashSet<>();
        List<ProbePattern> patterns = new ArrayList<>();
        List<OfFile> ofFiles = new ArrayList<>();
        Set<Integer> processes = new LinkedHashSet<>();
        Set<Dtrace> forms = EnumSet.noneOf(Dtrace.class);
        for (String operand : operands) {
            if (operand.isEmpty()) {
                throw new UsageException("an operand is empty");
            }
            checkForm(operand);
            int end = endOfFile(operand);
            if (end >= 0) {
                OfFile ofFile = new OfFile(
                        file(operand.substring(start(operand), end)),
                        checkPattern(operand.substring(end + 1), operand));
                files.add(ofFile.file());
                ofFiles.add(ofFile);
            } else if (operand.startsWith("usdt:") && colons(operand) > 1 && !Files.exists(path(operand))) {
                throw new UsageException(
                        "'" + operand + "' names no file that exists; the forms are usdt:FILE:PROVIDER:NAME and"
                                + " usdt:FILE:NAME, and without a file PROVIDER:NAME");
            } else if (isPattern(operand)) {
                patterns.add(checkPattern(operand, operand));
                OptionalInt process = ProbePattern.processOf(operand);
                process.ifPresent(processes::add);
                if (colons(operand) > 1 && process.isEmpty()) {
                    forms.add(ProbePattern.meansTarget(operand) ? Dtrace.TARGET : Dtrace.EVERYWHERE);
                }
            } else {
                files.add(file(operand));
            }
        }
        return new Operands(
                List.copyOf(files),
                List.copyOf(patterns),
                List.copyOf(ofFiles),
                Set.copyOf(processes),
                Set.copyOf(forms));
    }

    /**
     * @throws UsageException if an operand is a list of probes, or a probe of another kind; the message says what to
     *     write
     */
    static void checkForm(String operand) {
        ForeignProbe.check(operand);
        if (ForeignProbe.isList(operand) && !isFile(file(operand))) {
            throw new UsageException("spaces separate probes, not commas: write " + operand.replace(',', ' '));
        }
    }

    /** The patterns for all files and for single files. */
    List<ProbePattern> patterns() {
        return Stream.concat(ofAllFiles.stream(), ofFiles.stream().map(OfFile::pattern))
                .toList();
    }

    /** The patterns that are looked up in this file only. */
    List<ProbePattern> ofFile(Path file) {
        return ofFiles.stream()
                .filter(ofFile -> ofFile.file().equals(file))
                .map(OfFile::pattern)
                .toList();
    }

    /** Whether all processes are selected, and only by a name in DTrace's form. */
    boolean selectsAllProcesses() {
        return files.isEmpty() && processes.isEmpty() && forms.equals(Set.of(Dtrace.EVERYWHERE));
    }

    /**
     * @param isGiven whether {@code -p} or {@code -c} is given
     * @param takesCommand whether {@code -c} may be given
     * @throws UsageException if a name has {@code $target}, and there is no such process
     */
    void checkTarget(boolean isGiven, boolean takesCommand) {
        if (forms.contains(Dtrace.TARGET) && !isGiven) {
            throw new UsageException(
                    takesCommand
                            ? "$target is the process of -p or -c, but neither is given"
                            : "$target is the process of -p, which is not given");
        }
    }

    /**
     * The selected process: the given process, or else the process of the patterns.
     *
     * @throws UsageException if several processes are selected
     */
    OptionalInt process(OptionalInt given) {
        Set<Integer> all = new LinkedHashSet<>(processes);
        given.ifPresent(all::add);
        if (all.size() > 1) {
            throw new UsageException("give only one process, not " + all);
        }
        if (given.isEmpty() && !processes.isEmpty() && forms.contains(Dtrace.EVERYWHERE)) {
            throw new UsageException(
                    "one name selects process " + processes.iterator().next()
                            + ", another one selects all processes; give -p PID to look up both in one process");
        }
        return all.stream().mapToInt(Integer::intValue).findFirst();
    }

    /**
     * Refuses an operand that is neither a file nor a probe with a provider.
     *
     * @throws UsageException if there is such an operand
     */
    void checkNames() {
        check(files);
    }

    /** The same for a process, but accepts the name of a library: only the container of the process may have it. */
    void checkProbeNames() {
        check(files.stream().filter(file -> !file.toString().contains(".so")).toList());
    }

    private static void check(List<Path> files) {
        for (Path file : files) {
            if (file.toString().indexOf('/') < 0 && !Files.exists(file)) {
                throw new UsageException(
                        "'" + file + "' is not a file; probes are named PROVIDER:NAME, such as '*:" + file + "'");
            }
        }
    }

    /**
     * Returns the path if it can be read as a file.
     *
     * @throws CommandException if not
     */
    static Path check(Path file) {
        if (file.toString().indexOf('/') < 0 && !file.toString().isEmpty() && !Files.exists(file)) {
            throw new CommandException(
                    file + ": no such file, program or library; probes are named PROVIDER:NAME, such as '*:" + file
                            + "'" + InputFile.encoding(file.toString()));
        }
        return InputFile.check(file);
    }

    /** The index at which the pattern starts in bpftrace's and bcc's notation. */
    private static int start(String operand) {
        return operand.startsWith("usdt:") ? 5 : operand.startsWith("u:") ? 2 : 0;
    }

    /** The index of the colon between a file and the following pattern; -1 if the text has another form. */
    private static int endOfFile(String operand) {
        int start = start(operand);
        if (Files.exists(path(operand)) || (start == 0 && operand.indexOf('/') < 0)) {
            return -1;
        }
        // A path may contain colons: the first colon that follows an existing file counts.
        for (int colon = operand.indexOf(':', start); colon > start; colon = operand.indexOf(':', colon + 1)) {
            if (isFile(file(operand.substring(start, colon)))) {
                return colon;
            }
        }
        return -1;
    }

    private static boolean isFile(Path file) {
        int entry = file.toString().indexOf("!/");
        return Files.isRegularFile(entry < 0 ? file : path(file.toString().substring(0, entry)));
    }

    /** Whether this is a path of a file; false for the bare name of a library. */
    static boolean isRegularFile(String name) {
        return !name.isEmpty() && Files.isRegularFile(path(name));
    }

    private static boolean isPattern(String operand) {
        return operand.contains(":") && !operand.contains("/") && !Files.exists(path(operand));
    }

    private static ProbePattern checkPattern(String pattern, String operand) {
        long colons = colons(pattern);
        boolean provider = !pattern.startsWith(":");
        // In DTrace's form an empty part means all: postgresql1234:::. After a file, the name of a probe is enough.
        boolean name = colons == 3 ? pattern.length() > 3 : !pattern.endsWith(":") && !pattern.isEmpty();
        boolean complete =
                colons == 3 || colons == 2 || (colons == 1 ? provider : colons == 0 && !pattern.equals(operand));
        if (!complete || !name) {
            throw new UsageException("'" + operand + "' is not PROVIDER:NAME; * and ? match any text in each");
        }
        return checked(ProbePattern::parse, unescaped(pattern), operand);
    }

    /** Takes {@code \xff} back for a byte that is not UTF-8, as listings and tables show it. */
    static String unescaped(String pattern) {
        return RAW_BYTE.matcher(pattern)
                .replaceAll(escape -> String.valueOf((char) (0xdc00 + Integer.parseInt(escape.group(1), 16))));
    }

    /**
     * Parses a pattern of an operand; a pattern that can't be matched, such as one with too many braces, is wrong
     * usage.
     */
    static <T> T checked(Function<String, T> parser, String pattern, String operand) {
        try {
            return parser.apply(pattern);
        } catch (IllegalArgumentException e) {
            throw new UsageException("'" + operand + "': " + e.getMessage());
        }
    }

    private static long colons(String text) {
        return text.chars().filter(c -> c == ':').count();
    }

    /** A name that is neither an existing file nor a path is the name of a library or a program. */
    static Path file(String name) {
        Path path = path(name);
        return name.indexOf('/') >= 0 || Files.exists(path)
                ? path
                : LibrarySearch.ofThisMachine().find(name);
    }

    private static Path path(String operand) {
        try {
            return Path.of(operand);
        } catch (InvalidPathException e) {
            throw new CommandException(
                    operand + ": not a file name: " + e.getReason() + InputFile.encoding(operand), e);
        }
    }
}
