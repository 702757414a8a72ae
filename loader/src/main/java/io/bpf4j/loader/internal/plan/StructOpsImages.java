package io.bpf4j.loader.internal.plan;

import io.bpf4j.loader.dryrun.Fit.Finding;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.StructOpsSpec;
import io.bpf4j.sys.kernel.ProgramType;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * All struct_ops variables that a load registers, and the members that each program implements. <i>Confined.</i>
 *
 * <p>Tested by {@code StructOpsImageTest}.
 */
final class StructOpsImages {
    private final ObjectSpec spec;
    private final Map<String, StructOpsImage> images = new LinkedHashMap<>();
    private final Map<String, ImplementedMember> implemented = new HashMap<>();

    /** Programs that any struct_ops variable refers to, registered or not. */
    private final Set<String> referencedPrograms = new HashSet<>();

    private final Set<String> needed = new HashSet<>();

    /** By the names of programs. */
    private final Map<String, ProgramType> types = new HashMap<>();

    /** The member of a struct that a program implements. */
    private record ImplementedMember(StructOpsImage image, StructOpsImage.Slot slot) {
        boolean isSameMemberAs(ImplementedMember other) {
            return image.typeId() == other.image.typeId()
                    && image.module().equals(other.image.module())
                    && slot.index() == other.slot.index();
        }

        @Override
        public String toString() {
            return "\"" + slot.member() + "\" of struct " + image.variable().type();
        }
    }

    StructOpsImages(ObjectSpec spec) {
        this.spec = spec;
        spec.programs().forEach(program -> types.put(program.name(), program.type()));
        for (StructOpsSpec variable : spec.structOps()) {
            referencedPrograms.addAll(variable.removedPrograms());
            referencedPrograms.addAll(variable.functions().values());
            if (variable.autocreate()) {
                needed.addAll(variable.functions().values());
            }
        }
    }

    private void requirePrograms(StructOpsSpec variable) {
        variable.functions().forEach((member, program) -> {
            ProgramType type = types.get(program);
            if (type == null) {
                throw new InvalidObjectException(spec.source() + ": struct_ops variable \"" + variable.name()
                        + "\" has \"" + program + "\" for \"" + member + "\", which is not a program of the object");
            }
            if (type != ProgramType.STRUCT_OPS) {
                throw new InvalidObjectException(spec.source() + ": struct_ops variable \"" + variable.name()
                        + "\" has \"" + program + "\" for \"" + member
                        + "\", which is a program of another type: declare it with SEC(\"struct_ops\")");
            }
        });
    }

    /** Looks up the registered variables in the kernel's types; a variable that fails is a problem, and is left out. */
    void find(TargetKernel kernel, Problems problems) {
        for (StructOpsSpec variable : spec.structOps()) {
            if (variable.autocreate()) {
                problems.attempt(Finding.Kind.STRUCT_OPS, () -> {
                    requirePrograms(variable);
                    StructOpsImage image =
                            StructOpsImage.of(variable, spec.btf().orElseThrow(), kernel);
                    images.put(variable.name(), image);
                    image.slots().forEach(slot -> implement(slot.program(), new ImplementedMember(image, slot)));
                });
            }
        }
    }

    /** One program may implement several variables, but only for the same member of the same struct. */
    private void implement(String program, ImplementedMember member) {
        ImplementedMember before = implemented.putIfAbsent(program, member);
        if (before != null && !before.isSameMemberAs(member)) {
            throw new InvalidObjectException(spec.source() + ": program \"" + program + "\" is for " + before
                    + " and for " + member + "; a program can be verified for one member only");
        }
    }

    List<StructOpsImage> all() {
        return List.copyOf(images.values());
    }

    /**
     * Whether a program is loaded. An edit decides ({@link ProgramSpec#withAutoload}). Without one, the struct_ops
     * variables that refer to a program decide, whatever its section says ({@code SEC("?struct_ops")}): it is loaded if
     * one of them is registered, else left out. In libbpf they decide in any case
     * (bpf_object_adjust_struct_ops_autoload()).
     */
    boolean isLoaded(ProgramSpec program) {
        if (program.autoloadSet()) {
            return program.autoload();
        }
        boolean referenced = program.type() == ProgramType.STRUCT_OPS && referencedPrograms.contains(program.name());
        return referenced ? needed.contains(program.name()) : program.autoload();
    }

    /**
     * The attach point that a struct_ops program is verified for.
     *
     * @throws InvalidObjectException if nothing refers to it
     */
    AttachPoint point(ProgramSpec program) {
        ImplementedMember member = implemented.get(program.name());
        if (member == null) {
            throw new InvalidObjectException(spec.source() + ": program \"" + program.name() + "\" in SEC(\""
                    + program.sectionName()
                    + "\") is used by no struct_ops variable that is created, so the kernel can't know which member to"
                    + " verify it for; skip it, or assign it to a member");
        }
        return AttachPoint.ofMember(
                member.image().typeId(), member.slot().index(), member.image().module());
    }
}
