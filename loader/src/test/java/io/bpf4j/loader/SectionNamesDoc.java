package io.bpf4j.loader;

import io.bpf4j.loader.spec.SectionKind;
import io.bpf4j.sys.kernel.ProgramType;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes docs/section-names.md from the table of section names, so that the page can't say anything but what the code
 * does.
 */
final class SectionNamesDoc {
    private SectionNamesDoc() {}

    private enum Chapter {
        TRACING("Tracing and security"),
        NETWORKING("Networking"),
        CONTROL_GROUPS("Control groups"),
        OTHER("Others");

        final String title;

        Chapter(String title) {
            this.title = title;
        }

        static Chapter of(ProgramType type) {
            return switch (type) {
                case KPROBE, TRACEPOINT, PERF_EVENT, RAW_TRACEPOINT, RAW_TRACEPOINT_WRITABLE, TRACING, EXT, LSM ->
                    TRACING;
                case SOCKET_FILTER,
                        SCHED_CLS,
                        SCHED_ACT,
                        XDP,
                        LWT_IN,
                        LWT_OUT,
                        LWT_XMIT,
                        LWT_SEG6LOCAL,
                        SK_SKB,
                        SK_MSG,
                        SK_REUSEPORT,
                        SK_LOOKUP,
                        FLOW_DISSECTOR,
                        NETFILTER -> NETWORKING;
                case CGROUP_SKB,
                        CGROUP_SOCK,
                        CGROUP_DEVICE,
                        CGROUP_SOCK_ADDR,
                        CGROUP_SYSCTL,
                        CGROUP_SOCKOPT,
                        SOCK_OPS -> CONTROL_GROUPS;
                case UNSPEC, LIRC_MODE2, STRUCT_OPS, SYSCALL -> OTHER;
            };
        }
    }

    static String text() {
        StringBuilder out = new StringBuilder();
        out.append("""
                # Section names

                <!-- Made from the code by SectionNamesDocTest, which also says how to write it again. -->

                The name in `SEC("…")` determines a program's type, the attach type that it is loaded for, its flags, and for
                some programs the target. bpf4j knows %d names, those of libbpf.

                - A section name is a name of the table, optionally followed by `/` and a target of the form in the second column:
                  `SEC("kprobe/do_exit")`. Parts in brackets are optional.
                - A `?` before the name, `SEC("?kprobe/do_exit")`, leaves the program out of the load unless the loader is told
                  to take it. A `struct_ops` program is loaded nevertheless if a struct that refers to it is made.
                - *sleepable*: loaded with BPF_F_SLEEPABLE, so it may call helpers that sleep. *frags*: loaded with
                  BPF_F_XDP_HAS_FRAGS, so it gets packets of several buffers.
                - *by name*: `object.attachAll()` and `program.attach()` attach the program to the target in the name. All other
                  programs are attached *in code*, by `program.attach(target)`, and `attachAll()` skips them. It also skips a
                  program whose section name has no target, `SEC("kprobe")`. An incomplete target, `SEC("tp/sched")`, is refused;
                  the message has the required form.
                - `FILE` is a path, or the name of a library or program, which is searched for as the dynamic linker or the shell
                  does; in a `PATTERN`, `*` stands for any characters and `?` for one, as in libbpf; `OFFSET` is in bytes, decimal or with `0x`.
                - `usdt` needs the module `io.bpf4j.usdt`, which finds the probe and chooses the attach type at load.
                - The part after `lsm_cgroup` is the hook for which the program is loaded; the control group is given in code.
                  The part after `struct_ops` only informs the reader: the struct's initialiser says which member a program is, and
                  the map is attached, not the program.
                - Other names are refused at load, and not guessed: `xdp_prog` is not `xdp`.
                """.formatted(SectionKind.all().size()));
        for (Chapter chapter : Chapter.values()) {
            chapter(out, chapter);
        }
        return out.toString();
    }

    private static void chapter(StringBuilder out, Chapter chapter) {
        out.append("\n## ").append(chapter.title).append("\n\n");
        out.append("| name | target after `/` | program type | attach type | flags | attached |\n");
        out.append("|---|---|---|---|---|---|\n");
        for (SectionKind kind : SectionKind.all()) {
            if (Chapter.of(kind.type()) == chapter) {
                out.append(row(kind));
            }
        }
    }

    private static String row(SectionKind kind) {
        List<String> flags = new ArrayList<>();
        if (kind.sleepable()) {
            flags.add("sleepable");
        }
        if (kind.frags()) {
            flags.add("frags");
        }
        String form = kind.form().isEmpty() ? "" : "`" + kind.form() + "`";
        String attachType = kind.attachType().map(Enum::name).orElse("");
        String attached = kind.target() == SectionKind.Target.PLACE ? "by name" : "in code";
        return "| `" + kind.name() + "` | " + form + " | " + kind.type() + " | " + attachType + " | "
                + String.join(", ", flags) + " | " + attached + " |\n";
    }
}
