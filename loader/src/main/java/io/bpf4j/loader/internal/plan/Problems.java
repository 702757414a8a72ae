package io.bpf4j.loader.internal.plan;

import io.bpf4j.elf.Bpf4jException;
import io.bpf4j.loader.dryrun.Fit.Finding;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Collects the problems of a plan. <i>Confined.</i> */
final class Problems {
    private final List<LoadPlan.Problem> found = new ArrayList<>();

    /** Runs a step of planning: returns its result, or records a problem and returns nothing. */
    <T> Optional<T> attempt(Finding.Kind kind, Supplier<T> step) {
        try {
            return Optional.of(step.get());
        } catch (Bpf4jException e) {
            found.add(new LoadPlan.Problem(kind, e));
            return Optional.empty();
        }
    }

    void attempt(Finding.Kind kind, Runnable step) {
        attempt(kind, () -> {
            step.run();
            return true;
        });
    }

    List<LoadPlan.Problem> found() {
        return List.copyOf(found);
    }
}
