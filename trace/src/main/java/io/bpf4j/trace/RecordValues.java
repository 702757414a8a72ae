package io.bpf4j.trace;

import java.lang.reflect.Constructor;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Makes a record of the values of expressions: the first component has the value of the first expression, and so on. If an
 * expression is a name, such as {@code pid} or {@code table_name}, its component has the same name ({@code pid}, {@code
 * tableName}), because nothing else distinguishes two numbers that are in another order. Any other expression, such as
 * {@code str(arg0)}, goes by its position alone.
 */
final class RecordValues {
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z_0-9]*");
    private static final Pattern ARGUMENT = Pattern.compile("arg[0-9]+");

    /** The canonical constructor of a record is looked up once. */
    private static final ClassValue<Shape> SHAPES = new ClassValue<>() {
        @Override
        protected Shape computeValue(Class<?> type) {
            return Shape.of(type);
        }
    };

    private RecordValues() {}

    private record Shape(Constructor<?> constructor, List<RecordComponent> components) {
        static Shape of(Class<?> type) {
            RecordComponent[] components = type.getRecordComponents();
            Class<?>[] types =
                    Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
            try {
                Constructor<?> constructor = type.getDeclaredConstructor(types);
                constructor.setAccessible(true);
                return new Shape(constructor, List.of(components));
            } catch (NoSuchMethodException | InaccessibleObjectException e) {
                throw new IllegalArgumentException(
                        "record " + type.getName() + " can't be made by reflection; open its package to io.bpf4j.trace",
                        e);
            }
        }
    }

    /**
     * Makes a record.
     *
     * @throws IllegalArgumentException if the components are not those of the expressions, or a value does not fit
     */
    static <R extends Record> R of(Class<R> type, Map<String, Object> values) {
        Shape shape = SHAPES.get(type);
        List<RecordComponent> components = shape.components();
        if (components.size() != values.size()) {
            throw new IllegalArgumentException("record " + type.getName() + " has " + components.size()
                    + " components, but the question has " + values.size() + " expressions: " + values.keySet());
        }
        List<Object> arguments = new ArrayList<>();
        for (Map.Entry<String, Object> value : values.entrySet()) {
            RecordComponent component = components.get(arguments.size());
            String expression = value.getKey().strip();
            if (isNameOfAnother(expression, component.getName())) {
                throw new IllegalArgumentException("component " + component.getName() + " of record " + type.getName()
                        + " stands where the expression " + expression
                        + " is expected: rename the component, or put both in the same order");
            }
            arguments.add(converted(type, component, expression, value.getValue()));
        }
        try {
            return type.cast(shape.constructor().newInstance(arguments.toArray()));
        } catch (InvocationTargetException e) {
            throw new IllegalArgumentException(
                    "the constructor of record " + type.getName() + " refuses " + arguments, e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("make a record " + type.getName(), e);
        }
    }

    private static boolean isNameOfAnother(String expression, String component) {
        return NAME.matcher(expression).matches()
                && !ARGUMENT.matcher(expression).matches()
                && !plain(expression).equals(plain(component));
    }

    /** The name without underscores and upper case, in which the two notations of a name with several words differ. */
    private static String plain(String name) {
        return name.replace("_", "").toLowerCase(Locale.ROOT);
    }

    private static Object converted(Class<?> type, RecordComponent component, String expression, Object value) {
        Class<?> wanted = component.getType();
        if (wanted.isInstance(value)) {
            return value;
        }
        if (value instanceof Long number) {
            if (wanted == long.class) {
                return number;
            }
            if ((wanted == int.class || wanted == Integer.class) && number == number.intValue()) {
                return number.intValue();
            }
            if (wanted == BigInteger.class) {
                return BigInteger.valueOf(number);
            }
        } else if ((value instanceof Double && wanted == double.class)
                || (value instanceof Boolean && wanted == boolean.class)) {
            return value;
        }
        throw new IllegalArgumentException(
                "component " + component.getName() + " of record " + type.getName() + " is of "
                        + wanted.getSimpleName() + ", which can't have the value " + value + " of " + expression + " ("
                        + value.getClass().getSimpleName() + ")");
    }
}
