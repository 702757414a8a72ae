package io.bpf4j.loader.spec;

import java.lang.reflect.RecordComponent;
import java.util.Arrays;

/**
 * Copies a record with another value of one component. So a specification has its many components in one place only;
 * copies are made a few times before a load.
 *
 * <p>Tested by {@code LoadEditsTest} and {@code ObjectSpecTest}.
 */
final class RecordCopy {
    private RecordCopy() {}

    /** @param component its name; it must exist, and take the value */
    static <R> R with(R original, Class<? extends R> type, String component, Object value) {
        RecordComponent[] components = type.getRecordComponents();
        Class<?>[] types =
                Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
        Object[] values = new Object[components.length];
        boolean found = false;
        try {
            for (int i = 0; i < components.length; i++) {
                boolean changed = components[i].getName().equals(component);
                values[i] = changed ? value : components[i].getAccessor().invoke(original);
                found |= changed;
            }
            if (!found) {
                throw new AssertionError(type + " has no " + component);
            }
            return type.getDeclaredConstructor(types).newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(type + " can't be copied", e);
        }
    }
}
