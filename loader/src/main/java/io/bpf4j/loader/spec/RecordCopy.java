package io.bpf4j.loader.spec;

import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.util.List;

/**
 * Copies a record with another value of one component. So a specification has its many components in one place only;
 * copies are made a few times before a load.
 *
 * <p>Tested by {@code RecordCopyTest}, {@code LoadEditsTest} and {@code ObjectSpecTest}.
 */
final class RecordCopy {
    /** Each lookup gives accessors that are new, and whose first call takes longer than all else here. */
    private static final ClassValue<Parts> PARTS = new ClassValue<>() {
        @Override
        protected Parts computeValue(Class<?> type) {
            return Parts.of(type);
        }
    };

    private RecordCopy() {}

    /** What a record class consists of. */
    private record Parts(List<RecordComponent> components, Constructor<?> constructor) {
        static Parts of(Class<?> type) {
            List<RecordComponent> components = List.of(type.getRecordComponents());
            Class<?>[] types = components.stream().map(RecordComponent::getType).toArray(Class<?>[]::new);
            try {
                return new Parts(components, type.getDeclaredConstructor(types));
            } catch (NoSuchMethodException e) {
                throw new LinkageError(type + " can't be copied", e);
            }
        }
    }

    /** @param component its name; it must exist, and take the value */
    static <R> R with(R original, Class<? extends R> type, String component, Object value) {
        Parts parts = PARTS.get(type);
        Object[] values = new Object[parts.components.size()];
        boolean found = false;
        try {
            for (int i = 0; i < values.length; i++) {
                RecordComponent each = parts.components.get(i);
                boolean changed = each.getName().equals(component);
                values[i] = changed ? value : each.getAccessor().invoke(original);
                found |= changed;
            }
            if (!found) {
                throw new AssertionError(type + " has no " + component);
            }
            return type.cast(parts.constructor.newInstance(values));
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(type + " can't be copied", e);
        }
    }
}
