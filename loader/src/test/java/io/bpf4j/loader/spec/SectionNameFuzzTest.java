package io.bpf4j.loader.spec;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.insn.Assembler;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.test.fuzz.FuzzTarget;
import io.bpf4j.test.fuzz.Limits;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/** Any section name has a target, or is refused with the name in the message. The longest kind that fits is its kind. */
class SectionNameFuzzTest extends FuzzTarget {
    private static final FunctionSpec FUNCTION = Specs.function(
            "function",
            1,
            "section",
            0,
            false,
            Assembler.create().mov(0, 0).exit().assemble());

    @Override
    protected List<byte[]> seeds() {
        return Stream.concat(
                        SectionKind.all().stream().map(SectionKind::name),
                        Stream.of(
                                "kprobe/do_exit+0x10",
                                "?kretprobe/do_exit",
                                "kprobe.multi/tcp_*",
                                "uprobe//usr/bin/true:main+8",
                                "uprobe.multi//usr/bin/true:m*",
                                "usdt//usr/bin/true:provider:name",
                                "tracepoint/sched/sched_switch",
                                "raw_tp/sys_enter",
                                "fentry/tcp_connect",
                                "iter/task",
                                "ksyscall/openat",
                                "lsm/file_open"))
                .map(FuzzTarget::bytes)
                .toList();
    }

    @Override
    protected List<String> words() {
        return List.of(
                "/", ":", "+", "?", "*", "[", "]", "{", "}", ".multi", ".session", ".s", "0x", "-", "//", "libc.so.6:");
    }

    /** The cache of libraries is read each time. */
    @Override
    protected Limits limits() {
        return Limits.USUAL.withMaxLength(200).withBytes(16 << 20, 2_000).withSteps(2_000_000, 2_000);
    }

    @Override
    protected void read(byte[] input) {
        // As it is in a table of strings: up to its NUL.
        String section = new String(input, StandardCharsets.UTF_8).split("\0", -1)[0];
        ProgramSpec program = ProgramSpec.of(section, FUNCTION);
        assertThat(program.sectionName()).isEqualTo(section.startsWith("?") ? section.substring(1) : section);
        SectionKind longest = null;
        for (SectionKind kind : SectionKind.all()) {
            boolean fits = program.sectionName().equals(kind.name())
                    || (kind.target() != SectionKind.Target.NONE
                            && program.sectionName().startsWith(kind.name() + "/"));
            if (fits
                    && (longest == null || kind.name().length() > longest.name().length())) {
                longest = kind;
            }
        }
        assertThat(program.kind().orElse(null)).isEqualTo(longest);
        try {
            AttachTarget target = program.attachTarget();
            assertThat(target).isNotNull();
            assertThat(target.toString()).isNotEmpty();
        } catch (AttachException e) {
            assertThat(e.getMessage()).contains("\"function\"");
        }
    }

    @Override
    protected List<Growth> growths() {
        return List.of(
                new Growth("stars of a pattern", count -> bytes("kprobe.multi/" + "*a".repeat(count))),
                new Growth("characters of a function", count -> bytes("kprobe/" + "a".repeat(count))),
                new Growth("slashes", count -> bytes("tracepoint" + "/a".repeat(count))),
                new Growth("sums", count -> bytes("uprobe//usr/bin/true:f" + "+1".repeat(count))));
    }
}
