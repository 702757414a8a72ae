package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.Table;
import io.bpf4j.loader.Holders;
import io.bpf4j.loader.Links;
import io.bpf4j.loader.Pin;
import io.bpf4j.loader.Pins;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkInfo;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Facts about objects that the kernel does not report with them: which processes have an object open, where it is
 * pinned, and what a program is attached to. Read once for a command.
 *
 * <p>Tested by {@code CliInspectionTest}.
 */
final class LoadedThings {
    /** The arguments of the JVM by which a process is known as this command. */
    private static final Set<String> OWN_MAIN = Set.of("io.bpf4j.cli/io.bpf4j.cli.Main", "io.bpf4j.cli.Main");

    /** The first words of a command line decide; a process may have one of megabytes. */
    private static final int COMMAND_LINE_BYTES = 1 << 15;

    /** The form of a subcommand. Another argument of a process is not shown, because it may be text of any kind. */
    private static final Pattern SUBCOMMAND = Pattern.compile("[a-z][a-z-]{0,15}");

    private static final int MOST_IN_CELL = 2;

    private final Host host = Host.running();
    private final Holders holders;

    /** The pins by the id of the pinned object, because there may be 100,000 pins and as many objects. */
    private final Map<Integer, List<Pin>> pins;

    /**
     * The command of each process, because a process may hold thousands of objects, and an object may be held by
     * thousands of processes.
     */
    private final Map<Integer, String> commands = new HashMap<>();

    LoadedThings(Console console) throws IOException {
        this.holders = Holders.scan(host);
        this.pins = pins(host).stream().collect(Collectors.groupingBy(Pin::id));
        if (holders.hiddenProcesses() > 0) {
            console.remark("can't see which objects " + Scans.count(holders.hiddenProcesses(), "process")
                    + " have open: needs CAP_SYS_PTRACE");
        }
    }

    private static List<Pin> pins(Host host) {
        try {
            return Pins.in(host, host.sys().resolve("fs/bpf"));
        } catch (SyscallException | IllegalArgumentException e) {
            return List.of(); // no BPF file system is mounted there, or it may not be searched
        }
    }

    /** The processes that have an object open, such as {@code java (4711)} or {@code bpf4j trace (4711)}. */
    private List<String> holders(Pin.Kind kind, int id) {
        return others(kind, id).stream()
                .map(holder -> ownCommand(holder.pid(), holder.name()) + " (" + holder.pid() + ")")
                .toList();
    }

    /** Without this command, which has it open to show it. A JVM that runs this command for others has more open. */
    private List<Holders.Holder> others(Pin.Kind kind, int id) {
        long own = ProcessHandle.current().pid();
        return holders.of(kind, id).stream()
                .filter(holder ->
                        holder.pid() != own || ownCommand(holder.pid(), "").isEmpty())
                .toList();
    }

    /** A process that runs this command is shown as its command, not as {@code java}. */
    private String ownCommand(int pid, String name) {
        String command = commands.computeIfAbsent(pid, this::ownCommand);
        return command.isEmpty() ? name : command;
    }

    /** Empty if it is no such process. */
    private String ownCommand(int pid) {
        try (InputStream in = Files.newInputStream(host.process(pid).resolve("cmdline"))) {
            String[] words = new String(in.readNBytes(COMMAND_LINE_BYTES), StandardCharsets.UTF_8).split("\0", -1);
            for (int i = 0; i < words.length - 1; i++) {
                if (OWN_MAIN.contains(words[i])) {
                    return SUBCOMMAND.matcher(words[i + 1]).matches() ? "bpf4j " + words[i + 1] : "bpf4j";
                }
            }
            return "";
        } catch (IOException e) {
            return ""; // it has ended
        }
    }

    private List<String> pins(Pin.Kind kind, int id) {
        return pins.getOrDefault(id, List.of()).stream()
                .filter(pin -> pin.kind().stream().anyMatch(kind::equals))
                .map(pin -> pin.path().toString())
                .toList();
    }

    /** Who keeps an object, in a cell: processes, or its pin alone. */
    String heldBy(Pin.Kind kind, int id) {
        return joined(Stream.concat(holders(kind, id).stream(), pins(kind, id).stream())
                .toList());
    }

    void addTo(Table table, Pin.Kind kind, int id) {
        holders(kind, id).forEach(holder -> table.row("held by", holder));
        pins(kind, id).forEach(pin -> table.row("pinned at", pin));
    }

    void addTo(JsonLine line, Pin.Kind kind, int id) {
        line.key("held_by").beginArray();
        others(kind, id)
                .forEach(holder -> line.beginObject()
                        .field("pid", holder.pid())
                        .field("comm", holder.name())
                        .field("command", ownCommand(holder.pid(), holder.name()))
                        .endObject());
        line.endArray();
        texts(line, "pins", pins(kind, id));
    }

    static void texts(JsonLine line, String name, List<String> texts) {
        line.key(name).beginArray();
        texts.forEach(line::value);
        line.endArray();
    }

    /** By the id of a program, the links that attach it. A process that may open its pin may not list all links. */
    static Map<Integer, List<LinkInfo>> linksByProgram(Console console) {
        Map<Integer, List<LinkInfo>> links = new HashMap<>();
        try {
            links().loaded().forEach(link -> {
                LinkInfo info = link.info();
                links.computeIfAbsent(info.programId(), _ -> new ArrayList<>()).add(info);
            });
        } catch (SyscallException e) {
            if (e.errno() != Errno.EPERM) {
                throw e;
            }
            console.remark("can't list what is attached: " + e.getMessage());
        }
        return links;
    }

    static PinnableCommand.Source<Link> links() {
        return new PinnableCommand.Source<>(
                new KernelObjects<>("link", LoadedThings::linkIds, Links::byId, Link::close),
                Links::pinned,
                _ -> "",
                link -> link.info().id());
    }

    private static List<Integer> linkIds() {
        try {
            return Links.ids();
        } catch (SyscallException e) {
            if (e.errno() != Errno.EINVAL) {
                throw e;
            }
            return List.of(); // before Linux 5.8
        }
    }

    /** Several items in a cell: only the first ones, because a program may be attached to thousands of sites. */
    static String joined(List<String> texts) {
        int more = texts.size() - MOST_IN_CELL;
        return texts.isEmpty()
                ? "-"
                : texts.stream().limit(MOST_IN_CELL).collect(Collectors.joining(", "))
                        + (more > 0 ? " and " + more + " more" : "");
    }

    static String joinedNumbers(List<Integer> numbers) {
        return numbers.isEmpty() ? "-" : numbers.stream().map(String::valueOf).collect(Collectors.joining(", "));
    }

    /** The kernel's name of a constant: {@code socket_filter} for SOCKET_FILTER. */
    static String lowerCase(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    /** The time of day of a time since boot, as {@code 2026-01-02T03:04:05Z}; empty without /proc. */
    static String timeOfDay(Duration sinceBoot) {
        try {
            String uptime = Files.readString(Host.running().proc().resolve("uptime"), StandardCharsets.US_ASCII);
            long millis = Math.round(Double.parseDouble(uptime.substring(0, uptime.indexOf(' '))) * 1000);
            return Instant.now()
                    .minusMillis(millis)
                    .plus(sinceBoot)
                    .truncatedTo(ChronoUnit.SECONDS)
                    .toString();
        } catch (IOException e) {
            return "";
        }
    }
}
