package io.bpf4j.loader.spec;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.LibrarySearch;
import io.bpf4j.loader.link.ProcessFilter;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;

/**
 * Reads the target in a section name, for the rows of {@link SectionKinds}. The forms are those of the kernel's
 * Documentation/bpf/libbpf/program_types.rst, so that a program is attached to the same target as with libbpf.
 */
final class SectionPlaces {
    private SectionPlaces() {}

    /**
     * Reads one form.
     *
     * @param needed whether the target is required
     * @param read throws AttachException if the target is malformed, or missing although required
     */
    record Reader(boolean needed, Function<ProgramSpec, AttachTarget> read) {}

    /** The target that the program was loaded for: the load has already used the name. */
    static final Reader TRACING = new Reader(false, _ -> new AttachTarget.Tracing());

    static final Reader ITER = new Reader(false, _ -> new AttachTarget.Iter());
    static final Reader TRACEPOINT = new Reader(true, SectionPlaces::tracepoint);
    static final Reader RAW_TRACEPOINT = new Reader(true, program -> new AttachTarget.RawTracepoint(required(program)));
    static final Reader TRACING_MULTI =
            new Reader(true, program -> new AttachTarget.TracingMulti(List.of(required(program)), List.of()));

    static Reader ksyscall(boolean returns) {
        return new Reader(true, program -> new AttachTarget.Ksyscall(required(program), returns, 0));
    }

    static Reader kprobe(boolean returns) {
        return new Reader(true, program -> kprobe(program, returns));
    }

    static Reader kprobes(boolean returns) {
        return new Reader(
                true, program -> new AttachTarget.KprobeMulti(List.of(required(program)), List.of(), returns));
    }

    static Reader uprobe(boolean returns) {
        return new Reader(true, program -> uprobe(program, returns));
    }

    static Reader uprobes(boolean returns) {
        return new Reader(true, program -> uprobes(program, returns));
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

    /** The position of the colon. */
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
