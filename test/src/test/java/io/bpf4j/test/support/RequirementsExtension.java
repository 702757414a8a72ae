package io.bpf4j.test.support;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;
import org.opentest4j.TestAbortedException;

/** Acts on {@link Requires}: skips, or fails in CI. */
final class RequirementsExtension implements BeforeAllCallback, BeforeEachCallback {

    @Override
    public void beforeAll(ExtensionContext context) {
        check(context);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        check(context);
    }

    private static void check(ExtensionContext context) {
        AnnotationSupport.findAnnotation(context.getElement(), Requires.class)
                .ifPresent(requires -> insistOn(Arrays.asList(requires.value())));
    }

    /** The same for what only the running test knows that it needs. */
    static void insistOn(List<Requirement> requirements) {
        judge(
                requirements,
                Requirement::missing,
                "true".equals(System.getenv("CI")),
                System.getenv().getOrDefault("BPF4J_EXCUSED", ""));
    }

    /** Throws {@link TestAbortedException} for a skip and {@link AssertionError} for a failure. */
    static void judge(
            List<Requirement> requirements, Function<Requirement, Optional<String>> check, boolean ci, String excused) {
        Set<String> excuses =
                Arrays.stream(excused.split(",")).map(String::strip).collect(Collectors.toSet());
        List<String> missing = new ArrayList<>();
        List<String> unexcused = new ArrayList<>();
        for (Requirement requirement : requirements) {
            check.apply(requirement).ifPresent(text -> {
                missing.add(text);
                if (ci && !excuses.contains(requirement.name())) {
                    unexcused.add(text);
                }
            });
        }
        if (!unexcused.isEmpty()) {
            throw new AssertionError(
                    "in CI nothing is skipped that BPF4J_EXCUSED doesn't list: " + String.join("; ", unexcused));
        }
        if (!missing.isEmpty()) {
            throw new TestAbortedException(String.join("; ", missing));
        }
    }
}
