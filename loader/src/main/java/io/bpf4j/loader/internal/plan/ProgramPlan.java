package io.bpf4j.loader.internal.plan;

import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.kernel.AttachType;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A program that a load passes to the verifier. <i>Immutable.</i>
 *
 * @param autoload false for a program that is loaded only on request, or that no registered struct_ops variable refers
 *     to
 * @param attachType the attach type that it is loaded for
 * @param point the function that it is loaded for; empty if that is a problem
 * @param slots of its functions: the slot where each starts, in order
 * @param code empty if that is a problem
 * @param edit the embedder's last edit to the instructions
 * @param logLevel of the verifier, also for a program that it accepts; 0 for no log
 * @param problems problems of this program only
 */
public record ProgramPlan(
        ProgramSpec spec,
        boolean autoload,
        Optional<AttachType> attachType,
        Optional<AttachPoint> point,
        Map<FunctionSpec, Integer> slots,
        Optional<AssembledProgram> code,
        UnaryOperator<List<Instruction>> edit,
        int logLevel,
        List<LoadPlan.Problem> problems) {
    public String name() {
        return spec.name();
    }
}
