package io.bpf4j.loader.spec;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Iter;
import io.bpf4j.loader.link.Kprobe;
import io.bpf4j.loader.link.LibrarySearch;
import io.bpf4j.loader.link.Tracepoint;
import io.bpf4j.loader.link.Tracing;
import io.bpf4j.loader.link.Uprobe;
import java.nio.file.Path;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * Reads the target in a section name, for the rows of {@link SectionKinds}. The forms are those of the kernel's
 * Documentation/bpf/libbpf/program_types.rst, so that a program is attached to the same target as with libbpf.
 */
final class SectionTargets {
    private SectionTargets() {}

    /**
     * Reads one form.
     *
     * @param needed whether the target is required
     * @param read throws AttachException if the target is malformed, or missing although required
     */
    record Reader(boolean needed, Function<ProgramSpec, AttachTarget> read) {}

    /** The target that the program was loaded for: the load has already used the name. */
    static final Reader TRACING = new Reader(false, _ -> Tracing.asLoaded());

    static final Reader ITER = new Reader(false, _ -> Iter.all());
    static final Reader TRACEPOINT = new Reader(true, SectionTargets::tracepoint);

    /** A name or pattern that is the whole target. */
    static Reader named(Function<String, AttachTarget> target) {
        return new Reader(true, program -> target.apply(required(program)));
    }

    /** {@code FILE:PATTERN}. */
    static Reader inFile(BiFunction<Path, String, AttachTarget> target) {
        return new Reader(true, program -> {
            int colon = requireFileAndName(program);
            return target.apply(file(program, colon), program.target().substring(colon + 1));
        });
    }

    static Reader kprobe(Function<String, Kprobe> kprobe) {
        return new Reader(true, program -> kprobe(program, kprobe));
    }

    static Reader uprobe(BiFunction<Path, String, Uprobe> uprobe) {
        return new Reader(true, program -> uprobe(program, uprobe));
    }

    private static AttachTarget tracepoint(ProgramSpec program) {
        String target = program.target();
        int slash = target.indexOf('/');
        if (slash <= 0 || slash == target.length() - 1) {
            throw incomplete(program);
        }
        return Tracepoint.of(target.substring(0, slash), target.substring(slash + 1));
    }

    private static AttachTarget kprobe(ProgramSpec program, Function<String, Kprobe> of) {
        String target = required(program);
        int plus = target.indexOf('+');
        String function = plus < 0 ? target : target.substring(0, plus);
        Kprobe kprobe = of.apply(function);
        try {
            return plus < 0 ? kprobe : kprobe.withOffset(Long.decode(target.substring(plus + 1)));
        } catch (NumberFormatException e) {
            throw new AttachException(
                    "program \"" + program.name() + "\": offset in SEC(\"" + program.sectionName()
                            + "\") is not a number",
                    e);
        }
    }

    /** {@code FILE:FUNCTION} or {@code FILE:FUNCTION+OFFSET}. */
    private static AttachTarget uprobe(ProgramSpec program, BiFunction<Path, String, Uprobe> of) {
        int colon = requireFileAndName(program);
        Path file = file(program, colon);
        String function = program.target().substring(colon + 1);
        int plus = function.lastIndexOf('+');
        long offset = 0;
        if (plus > 0) {
            try {
                offset = Long.decode(function.substring(plus + 1));
                function = function.substring(0, plus);
            } catch (NumberFormatException e) {
                // A plus that is not followed by a number is part of the name, as in operator+.
            }
        }
        try {
            return of.apply(file, function).withOffset(offset);
        } catch (IllegalArgumentException e) {
            throw new AttachException(
                    "program \"" + program.name() + "\" in SEC(\"" + program.sectionName() + "\"): " + e.getMessage(),
                    e);
        }
    }

    private static Path file(ProgramSpec program, int colon) {
        return LibrarySearch.ofThisMachine().find(program.target().substring(0, colon));
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
                + "\") names no target: use SEC(\"" + example + "\"), or attach it to a target:"
                + " program.attach(target)");
    }
}
