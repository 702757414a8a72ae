package io.bpf4j.loader;

import io.bpf4j.loader.kernel.ProgramType;
import io.bpf4j.loader.spec.SectionKind;
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

                The name in `SEC("…")` says what a program is: its type, the attach type that it is loaded for, its flags,
                and, for some, where it goes. bpf4j knows %d names, those of libbpf.

                - A name in the table stands alone. Where the second column has something, `/` and that may follow:
                  `SEC("kprobe/do_exit")`. In brackets is what may be left out.
                - A `?` before the name, `SEC("?kprobe/do_exit")`, leaves the program out of the load unless it is asked for.
                  A `struct_ops` program is loaded all the same where a struct that refers to it is made.
                - *sleepable*: loaded with BPF_F_SLEEPABLE, so it may call helpers that sleep. *frags*: loaded with
                  BPF_F_XDP_HAS_FRAGS, so it gets packets of several buffers.
                - *by name*: `object.attachAll()` and `program.attach()` attach it where the name says. All others are
                  attached in code, `program.attach(target)`, and `attachAll()` leaves them alone, as it leaves
                  a name alone, `SEC("kprobe")`. One that says half of it, `SEC("tp/sched")`, is refused, with the form that
                  it should have.
                - `FILE` is a path, or the name of a library or program that is searched as the dynamic linker or the
                  shell would; `PATTERN` has `*` and `?` for any characters and for one; `OFFSET` is in bytes, decimal or
                  with `0x`.
                - `usdt` needs the module `io.bpf4j.usdt`: it finds the probe and chooses the attach type at load.
                - What follows `lsm_cgroup` is the hook that it is loaded for; the control group is said in code.
                  What follows `struct_ops` is for the reader: the struct's initialiser says which member a program is, and
                  the map is what is attached.
                - Other names are refused at load, and never guessed: `xdp_prog` is not `xdp`.
                """.formatted(SectionKind.all().size()));
        for (Chapter chapter : Chapter.values()) {
            chapter(out, chapter);
        }
        return out.toString();
    }

    private static void chapter(StringBuilder out, Chapter chapter) {
        out.append("\n## ").append(chapter.title).append("\n\n");
        out.append("| name | may follow `/` | program type | attach type | flags | attached |\n");
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
