package io.bpf4j.loader;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.LibrarySearch;
import io.bpf4j.loader.link.ProcessFilter;
import io.bpf4j.loader.spec.ProgramSpec;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What the name of a section says about where its program goes. The forms are those of the kernel's
 * Documentation/bpf/libbpf/program_types.rst, so that an object is attached here where libbpf attaches it.
 */
final class SectionTargets {
    private SectionTargets() {}

    /**
     * The target of a program.
     *
     * @throws AttachException if the section's name does not say, or says it wrongly
     */
    static AttachTarget of(ProgramSpec program) {
        return find(program)
                .orElseThrow(() -> new AttachException("program \"" + program.name() + "\" in SEC(\""
                        + program.sectionName()
                        + "\") is not attached by its section's name; attach it to a target: program.attach(target)"));
    }

    /** Whether the name says where, be it wrongly: {@code SEC("uprobe/x")} does, {@code SEC("uprobe")} does not. */
    static boolean saysWhere(ProgramSpec program) {
        try {
            return find(program).isPresent();
        } catch (AttachException e) {
            return !isBare(program);
        }
    }

    /** Whether the name is that of the kind and no more. */
    static boolean isBare(ProgramSpec program) {
        return program.target().isEmpty() && program.sectionName().indexOf('/') < 0;
    }

    /**
     * The target of a program; empty for the kinds of which no name can say it, such as {@code xdp}.
     *
     * @throws AttachException if the name could say it, and does not
     */
    static Optional<AttachTarget> find(ProgramSpec program) {
        String kind = program.kind().map(k -> k.name()).orElse("");
        return Optional.ofNullable(
                switch (kind) {
                    case "tracepoint", "tp" -> tracepoint(program);
                    case "raw_tracepoint", "raw_tp", "raw_tracepoint.w", "raw_tp.w" ->
                        new AttachTarget.RawTracepoint(required(program));
                    case "tp_btf",
                            "fentry",
                            "fentry.s",
                            "fexit",
                            "fexit.s",
                            "fsession",
                            "fsession.s",
                            "fmod_ret",
                            "fmod_ret.s",
                            "lsm",
                            "lsm.s",
                            "freplace" -> new AttachTarget.Tracing();
                    case "fentry.multi",
                            "fentry.multi.s",
                            "fexit.multi",
                            "fexit.multi.s",
                            "fsession.multi",
                            "fsession.multi.s" -> new AttachTarget.TracingMulti(List.of(required(program)), List.of());
                    case "iter", "iter.s" -> new AttachTarget.Iter();
                    case "ksyscall" -> new AttachTarget.Ksyscall(required(program), false, 0);
                    case "kretsyscall" -> new AttachTarget.Ksyscall(required(program), true, 0);
                    case "kprobe.multi", "kprobe.session" -> kprobes(program, false);
                    case "kretprobe.multi" -> kprobes(program, true);
                    case "kprobe" -> kprobe(program, false);
                    case "kretprobe" -> kprobe(program, true);
                    case "uprobe", "uprobe.s" -> uprobe(program, false);
                    case "uretprobe", "uretprobe.s" -> uprobe(program, true);
                    case "uprobe.multi", "uprobe.multi.s", "uprobe.session", "uprobe.session.s" ->
                        uprobes(program, false);
                    case "uretprobe.multi", "uretprobe.multi.s" -> uprobes(program, true);
                    default -> null;
                });
    }

    private static AttachTarget tracepoint(ProgramSpec program) {
        String target = program.target();
        int slash = target.indexOf('/');
        if (slash <= 0 || slash == target.length() - 1) {
            throw incomplete(program);
        }
        return new AttachTarget.Tracepoint(target.substring(0, slash), target.substring(slash + 1));
    }

    private static AttachTarget kprobe(ProgramSpec program, boolean returns) {
        String target = required(program);
        int plus = target.indexOf('+');
        if (plus < 0) {
            return new AttachTarget.Kprobe(target, 0, returns);
        }
        try {
            return new AttachTarget.Kprobe(target.substring(0, plus), Long.decode(target.substring(plus + 1)), returns);
        } catch (NumberFormatException e) {
            throw new AttachException(
                    "program \"" + program.name() + "\": offset in SEC(\"" + program.sectionName()
                            + "\") is not a number",
                    e);
        }
    }

    private static AttachTarget kprobes(ProgramSpec program, boolean returns) {
        return new AttachTarget.KprobeMulti(List.of(required(program)), List.of(), returns);
    }

    private static AttachTarget uprobe(ProgramSpec program, boolean returns) {
        requireFileAndName(program);
        try {
            return AttachTarget.UprobeFunction.parse(program.target(), returns);
        } catch (IllegalArgumentException e) {
            throw new AttachException(
                    "program \"" + program.name() + "\" in SEC(\"" + program.sectionName() + "\"): " + e.getMessage(),
                    e);
        }
    }

    private static AttachTarget uprobes(ProgramSpec program, boolean returns) {
        int colon = requireFileAndName(program);
        String target = program.target();
        Path file = LibrarySearch.ofThisMachine().find(target.substring(0, colon));
        return new AttachTarget.UprobeMultiFunctions(
                file, target.substring(colon + 1), new ProcessFilter.Any(), returns);
    }

    /** Where the colon is. */
    private static int requireFileAndName(ProgramSpec program) {
        String target = program.target();
        int colon = target.indexOf(':');
        if (colon <= 0 || colon == target.length() - 1) {
            throw incomplete(program);
        }
        return colon;
    }

    private static String required(ProgramSpec program) {
        if (program.target().isEmpty()) {
            throw incomplete(program);
        }
        return program.target();
    }

    private static AttachException incomplete(ProgramSpec program) {
        String example = program.kind().map(k -> k.name() + "/" + k.form()).orElse(program.sectionName());
        return new AttachException("program \"" + program.name() + "\" in SEC(\"" + program.sectionName()
                + "\") does not say where to attach it: SEC(\"" + example + "\"), or attach it to a target:"
                + " program.attach(target)");
    }
}
