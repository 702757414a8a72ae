package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.Records;
import io.bpf4j.cli.output.Table;
import io.bpf4j.loader.Pin;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.Programs;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkInfo;
import io.bpf4j.sys.SyscallException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;

/**
 * Links that exist, of any process.
 *
 * <p>Tested by {@code CliInspectionTest}.
 */
@Command(
        name = "link",
        description = "Lists, shows, dumps and pins links, of any process: what is attached to what.",
        footer = {"  bpf4j link", "  bpf4j link show 12", "  bpf4j link dump 12", "  bpf4j link pin 12 /sys/fs/bpf/link"
        })
final class LinkCommand extends PinnableCommand {
    LinkCommand(Console console) {
        super(console);
    }

    @Override
    void list() throws IOException {
        KernelObjects<Link> links = LoadedThings.links().loaded().listed();
        LoadedThings things = new LoadedThings(console);
        Table table = new Table("")
                .header("ID", "TYPE", "PROGRAM", "ATTACHED TO", "HELD BY")
                .keeping(1);
        links.forEach(link -> {
            LinkInfo info = link.info();
            if (json) {
                console.line(json(info, things));
            } else {
                table.row(
                        Integer.toString(info.id()),
                        LinkText.kind(info),
                        program(info),
                        LinkText.shown(info),
                        things.heldBy(Pin.Kind.LINK, info.id()));
            }
        });
        printList(table);
    }

    /** The id and the name of the attached program; a struct_ops link has none. */
    private static String program(LinkInfo link) {
        if (link.programId() == 0) {
            return "-";
        }
        try (Program program = Programs.byId(link.programId())) {
            return link.programId() + " " + program.info().name();
        } catch (SyscallException e) {
            return Integer.toString(link.programId()); // it has been replaced meanwhile
        }
    }

    private static String json(LinkInfo info, LoadedThings things) {
        JsonLine line = Records.begin("link")
                .field("id", info.id())
                .field("link_type", LinkText.kind(info))
                .field("program_id", info.programId())
                .field("target", LinkText.target(info));
        things.addTo(line, Pin.Kind.LINK, info.id());
        return line.endObject().toString();
    }

    @Override
    void show(String object) throws IOException {
        try (Link link = LoadedThings.links().open(object)) {
            LinkInfo info = link.info();
            LoadedThings things = new LoadedThings(console);
            if (json) {
                console.line(json(info, things));
                return;
            }
            console.line("link " + info.id());
            Table table = new Table("  ")
                    .row("type", LinkText.kind(info))
                    .row("program", program(info))
                    .row("attached to", LinkText.shown(info));
            things.addTo(table, Pin.Kind.LINK, info.id());
            table.print(console);
        }
    }

    /** The sites of a link that has many. */
    @Override
    void dump(String object) {
        try (Link link = LoadedThings.links().open(object)) {
            List<Link.Site> sites;
            try {
                sites = link.sites();
            } catch (UnsupportedOperationException e) {
                throw new CommandException(e.getMessage() + "; 'show' prints all that is known about it", e);
            }
            for (Link.Site site : sites) {
                console.line(
                        json
                                ? Records.begin("site")
                                        .unsignedField("place", site.place())
                                        .unsignedField("ref_counter_offset", site.refCounterOffset())
                                        .unsignedField("cookie", site.cookie())
                                        .endObject()
                                        .toString()
                                : "0x" + Long.toHexString(site.place())
                                        + (site.refCounterOffset() == 0
                                                ? ""
                                                : "  semaphore 0x" + Long.toHexString(site.refCounterOffset()))
                                        + (site.cookie() == 0
                                                ? ""
                                                : "  cookie " + Long.toUnsignedString(site.cookie())));
            }
        }
    }

    @Override
    void pin(String object, Path path) {
        try (Link link = LoadedThings.links().open(object)) {
            link.pin(path);
        }
    }
}
