package io.bpf4j.loader.internal.load;

import io.bpf4j.core.CoreTarget;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.kernel.ProgramType;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.StructOpsSpec;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** All structs of functions that a load makes, and what each program serves in them. <i>Confined.</i> */
final class StructOpsImages {
    private final ObjectSpec spec;
    private final List<StructOpsSpec> variables;
    private final Map<String, StructOpsImage> images = new LinkedHashMap<>();
    private final Map<String, Served> served = new HashMap<>();

    /** Programs that some struct refers to, made or not. */
    private final Set<String> mentioned = new HashSet<>();

    private final Set<String> needed = new HashSet<>();

    /** The member of a struct that a program is for. */
    record Served(StructOpsImage image, StructOpsImage.Slot slot) {
        boolean isSameMemberAs(Served other) {
            return image.typeId() == other.image.typeId()
                    && image.module().equals(other.image.module())
                    && slot.index() == other.slot.index();
        }

        @Override
        public String toString() {
            return "\"" + slot.member() + "\" of struct " + image.variable().type();
        }
    }

    /** Of the variables as the embedder edited them. */
    StructOpsImages(ObjectSpec spec, Map<String, StructOpsSpec> edited) {
        this.spec = spec;
        this.variables = spec.structOps().stream()
                .map(original -> edited.getOrDefault(original.name(), original))
                .toList();
        spec.structOps()
                .forEach(original -> mentioned.addAll(original.functions().values()));
        for (StructOpsSpec variable : variables) {
            mentioned.addAll(variable.functions().values());
            if (variable.autocreate()) {
                needed.addAll(variable.functions().values());
            }
        }
        variables.stream().filter(StructOpsSpec::autocreate).forEach(this::requirePrograms);
    }

    private void requirePrograms(StructOpsSpec variable) {
        variable.functions().forEach((member, program) -> {
            ProgramType type = spec.program(program)
                    .map(ProgramSpec::type)
                    .orElseThrow(() -> new InvalidObjectException(spec.source() + ": struct_ops variable \""
                            + variable.name() + "\" has \"" + program + "\" for \"" + member
                            + "\", which is no program of the object"));
            if (type != ProgramType.STRUCT_OPS) {
                throw new InvalidObjectException(spec.source() + ": struct_ops variable \"" + variable.name()
                        + "\" has \"" + program + "\" for \"" + member
                        + "\", a program of another type: SEC(\"struct_ops\") makes one for it");
            }
        });
    }

    /** Looks the structs up in the kernel's types, if the object has any. */
    void find(Supplier<CoreTarget> kernel, KernelModules modules) {
        for (StructOpsSpec variable : variables) {
            if (variable.autocreate()) {
                find(variable, kernel, modules);
            }
        }
    }

    /** Looks one of them up. */
    void find(StructOpsSpec variable, Supplier<CoreTarget> kernel, KernelModules modules) {
        StructOpsImage image = StructOpsImage.of(
                variable, spec.btf().orElseThrow(), kernel.get().kernel(), modules);
        images.put(variable.name(), image);
        image.slots().forEach(slot -> serve(slot.program(), new Served(image, slot)));
    }

    /** One program may serve several variables, in the same member of the same struct. */
    private void serve(String program, Served member) {
        Served before = served.putIfAbsent(program, member);
        if (before != null && !before.isSameMemberAs(member)) {
            throw new InvalidObjectException(spec.source() + ": program \"" + program + "\" is for " + before
                    + " and for " + member + "; a program is verified for one member");
        }
    }

    Iterable<StructOpsImage> all() {
        return images.values();
    }

    Map<String, StructOpsImage> byName() {
        return Collections.unmodifiableMap(images);
    }

    /**
     * Whether a program is loaded without being asked for. Of one that structs refer to they decide, whatever its section
     * says ({@code SEC("?struct_ops")}): it is loaded for those that are made, and left out if none of them is, as libbpf
     * does it (bpf_object_adjust_struct_ops_autoload()).
     */
    boolean loadsByItself(ProgramSpec program) {
        boolean mine = program.type() == ProgramType.STRUCT_OPS && mentioned.contains(program.name());
        return mine ? needed.contains(program.name()) : program.autoload();
    }

    /**
     * What a program of type struct_ops is verified for.
     *
     * @throws InvalidObjectException if nothing refers to it
     */
    AttachPoint point(ProgramSpec program, KernelModules modules) {
        Served member = served(program);
        return AttachPoint.ofMember(
                member.image().typeId(),
                member.slot().index(),
                member.image().module().map(modules::descriptor).orElse(null));
    }

    /**
     * The member that a program is for.
     *
     * @throws InvalidObjectException if nothing refers to it
     */
    Served served(ProgramSpec program) {
        Served member = served.get(program.name());
        if (member == null) {
            throw new InvalidObjectException(spec.source() + ": program \"" + program.name() + "\" in SEC(\""
                    + program.sectionName()
                    + "\") is called by no struct_ops variable that is made, so the kernel can't know what to verify it"
                    + " for; skip it, or name it in one");
        }
        return member;
    }
}
