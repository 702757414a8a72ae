package io.bpf4j.test.project;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.Arrays;

/** Each package of a module is a slice of its own; classes of other modules are in none. */
final class PackageSlices implements SliceAssignment {
    private final String[] roots;

    /**
     * @param roots first parts of the module's packages behind {@code io.bpf4j.}, separated by {@code |}
     */
    PackageSlices(String roots) {
        this.roots = roots.split("\\|");
    }

    @Override
    public SliceIdentifier getIdentifierOf(JavaClass type) {
        String name = type.getPackageName();
        boolean inModule = Arrays.stream(roots)
                .map(root -> "io.bpf4j." + root)
                .anyMatch(root -> name.equals(root) || name.startsWith(root + "."));
        return inModule ? SliceIdentifier.of(name) : SliceIdentifier.ignore();
    }

    @Override
    public String getDescription() {
        return "packages of " + String.join(", ", roots);
    }
}
