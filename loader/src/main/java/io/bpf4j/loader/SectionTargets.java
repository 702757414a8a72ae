package io.bpf4j.loader;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.spec.ProgramSpec;

/** What the name of a section says about where its program goes. */
final class SectionTargets {
    private SectionTargets() {}

    static AttachTarget of(ProgramSpec program) {
        String kind = program.kind().map(k -> k.name()).orElse("");
        String target = program.target();
        return switch (kind) {
            case "tracepoint", "tp" -> tracepoint(program, target);
            case "raw_tracepoint", "raw_tp", "raw_tracepoint.w", "raw_tp.w" ->
                new AttachTarget.RawTracepoint(required(program, target, "NAME"));
            case "tp_btf", "fentry", "fentry.s", "fexit", "fexit.s", "fmod_ret", "fmod_ret.s", "lsm", "lsm.s" ->
                new AttachTarget.Tracing();
            case "kprobe", "kretprobe" -> kprobe(program, target, kind.equals("kretprobe"));
            default ->
                throw new AttachException("program \"" + program.name() + "\" in SEC(\"" + program.sectionName()
                        + "\") is not attached by its section's name; attach it to a target: program.attach(target)");
        };
    }

    private static AttachTarget tracepoint(ProgramSpec program, String target) {
        int slash = target.indexOf('/');
        if (slash <= 0 || slash == target.length() - 1) {
            throw incomplete(program, "CATEGORY/NAME");
        }
        return new AttachTarget.Tracepoint(target.substring(0, slash), target.substring(slash + 1));
    }

    private static AttachTarget kprobe(ProgramSpec program, String target, boolean returns) {
        required(program, target, "FUNCTION");
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

    private static String required(ProgramSpec program, String target, String form) {
        if (target.isEmpty()) {
            throw incomplete(program, form);
        }
        return target;
    }

    private static AttachException incomplete(ProgramSpec program, String form) {
        String kind = program.kind().map(k -> k.name()).orElse(program.sectionName());
        return new AttachException("program \"" + program.name() + "\" in SEC(\"" + program.sectionName()
                + "\") does not say where to attach it: SEC(\"" + kind + "/" + form + "\")");
    }
}
