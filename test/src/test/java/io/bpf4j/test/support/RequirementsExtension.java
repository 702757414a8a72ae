package io.bpf4j.test.support;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
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
        judge(requirements, Requirement::missing, "true".equals(System.getenv("CI")), KnownLacks.ofThisRun());
    }

    /**
     * Throws {@link TestAbortedException} for a skip and {@link AssertionError} for a failure: in CI a machine lacks what
     * it is known to lack, no more and no less.
     */
    static void judge(
            List<Requirement> requirements,
            Function<Requirement, Optional<String>> check,
            boolean ci,
            KnownLacks known) {
        List<String> missing = new ArrayList<>();
        List<String> unknown = new ArrayList<>();
        List<String> there = new ArrayList<>();
        for (Requirement requirement : requirements) {
            Optional<String> text = check.apply(requirement);
            text.ifPresent(missing::add);
            if (text.isEmpty() && known.certain().contains(requirement)) {
                there.add(requirement.name());
            }
            if (text.isPresent()
                    && !known.certain().contains(requirement)
                    && !known.possible().contains(requirement)) {
                unknown.add(text.get());
            }
        }
        String machine = known.machine().isEmpty() ? "a machine without a name" : known.machine();
        if (ci && !unknown.isEmpty()) {
            throw new AssertionError("in CI nothing is skipped that test/machines.txt does not list for " + machine
                    + ": " + String.join("; ", unknown));
        }
        if (ci && !there.isEmpty()) {
            throw new AssertionError("test/machines.txt says that " + machine + " lacks what is there: "
                    + String.join(", ", there) + "; take it off the list, so that its tests run");
        }
        if (!missing.isEmpty()) {
            throw new TestAbortedException(String.join("; ", missing));
        }
    }
}
