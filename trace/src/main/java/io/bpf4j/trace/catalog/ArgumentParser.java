package io.bpf4j.trace.catalog;

import io.bpf4j.trace.catalog.ArgumentType.Unit;
import io.bpf4j.trace.expression.ValueType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Parses the arguments of a probe: {@code name: text[name_length]}, {@code duration: s64 ns}.
 *
 * <p>Tested by {@code CatalogParserTest}.
 */
final class ArgumentParser {
    /** sys/sdt.h allows twelve arguments, and bpf_usdt_arg reads twelve. */
    static final int MAX_ARGUMENTS = 12;

    private static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9_]*");
    private static final Pattern ARGUMENT = Pattern.compile("([^:]*):(.*)");
    private static final Pattern INT = Pattern.compile("([su])(8|16|32|64)(?:\\s+(\\S+))?");
    private static final Pattern TEXT =
            Pattern.compile("text(?:\\[\\s*([A-Za-z0-9_]+)\\s*])?(?:\\s+at\\s+([0-9]{1,4}))?(\\s+mangled)?");

    /** The names that arguments have without a catalog, and the type names of casts. */
    private static final Pattern RESERVED_FORM =
            Pattern.compile("arg[0-9]+|[su](8|16|32|64)|char|short|int|long|signed|unsigned");

    /** Names that have another meaning in an expression. */
    private static final Set<String> RESERVED =
            Set.of("pid tid comm cpu uid cgroup probe provider nsecs retval true false str".split(" ", -1));

    private static final String TYPES =
            "bool, pointer, text, text[ARGUMENT], or an integer s8 to s64 or u8 to u64, with a unit or an enum";

    private final Lines lines;

    /** By the index of a text: the name of the argument with its length, which may come later in the list. */
    private final Map<Integer, String> lengths = new HashMap<>();

    /** The values of each enum of the file, by its name. */
    private final Map<String, Map<Long, String>> enums;

    ArgumentParser(Lines lines, Map<String, Map<Long, String>> enums) {
        this.lines = lines;
        this.enums = enums;
    }

    /** Parses an argument; the text has no comma around it. */
    ProbeArgument parse(int index, String text) {
        Matcher argument = ARGUMENT.matcher(text);
        if (!argument.matches()) {
            throw lines.error("expected an argument as 'name: type', found '" + text.strip() + "'");
        }
        if (index >= MAX_ARGUMENTS) {
            throw lines.error("a probe has at most " + MAX_ARGUMENTS + " arguments");
        }
        String name = argument.group(1).strip();
        checkName(name);
        return new ProbeArgument(index, name, type(index, argument.group(2).strip()));
    }

    /**
     * Checks that names differ and that the argument with the length of each text exists, and sets its index in the
     * text.
     */
    List<ProbeArgument> complete(List<ProbeArgument> arguments) {
        for (ProbeArgument argument : arguments) {
            if (named(arguments.subList(0, argument.index()), argument.name()) != null) {
                throw lines.error("two arguments are named '" + argument.name() + "'");
            }
        }
        return arguments.stream()
                .map(argument -> withLength(argument, arguments))
                .toList();
    }

    private ProbeArgument withLength(ProbeArgument argument, List<ProbeArgument> all) {
        String name = lengths.get(argument.index());
        if (name == null || !(argument.type() instanceof ArgumentType.Text text)) {
            return argument;
        }
        ProbeArgument length = named(all, name);
        if (length == null || !(length.type() instanceof ArgumentType.Int)) {
            throw lines.error("expected an integer argument '" + name + "' with the length of the text");
        }
        return new ProbeArgument(
                argument.index(),
                argument.name(),
                new ArgumentType.Text(OptionalInt.of(length.index()), text.pointerAt(), text.mangled()));
    }

    private static @Nullable ProbeArgument named(List<ProbeArgument> arguments, String name) {
        return arguments.stream().filter(a -> a.name().equals(name)).findFirst().orElse(null);
    }

    private void checkName(String name) {
        if (!NAME.matcher(name).matches()) {
            throw lines.error("expected an argument's name (a letter, then letters, digits and underscores), found '"
                    + name + "'");
        }
        if (RESERVED.contains(name) || RESERVED_FORM.matcher(name).matches()) {
            throw lines.error("'" + name + "' is reserved in expressions: expected another name for the argument");
        }
    }

    private ArgumentType type(int index, String type) {
        if (type.equals("bool")) {
            return new ArgumentType.Bool();
        }
        if (type.equals("pointer")) {
            return new ArgumentType.Pointer();
        }
        Matcher text = TEXT.matcher(type);
        if (text.matches()) {
            if (text.group(1) != null) {
                lengths.put(index, text.group(1));
            }
            return new ArgumentType.Text(
                    OptionalInt.empty(),
                    text.group(2) == null ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(text.group(2))),
                    text.group(3) != null);
        }
        Matcher integer = INT.matcher(type);
        if (integer.matches()) {
            int size = Integer.parseInt(integer.group(2)) / Byte.SIZE;
            return integer(new ValueType.Int(size, integer.group(1).equals("s")), integer.group(3));
        }
        throw lines.error("unknown type '" + type + "': expected " + TYPES);
    }

    private ArgumentType integer(ValueType.Int number, @Nullable String meaning) {
        if (meaning == null) {
            return new ArgumentType.Int(number);
        }
        Optional<Unit> unit = Unit.of(meaning);
        Map<Long, String> names = enums.get(meaning);
        if (unit.isEmpty() && names == null) {
            throw lines.error(
                    "'" + meaning + "' is not an enum of this file: expected an enum that is declared above, or"
                            + " one of the units ns, us, ms, s and bytes");
        }
        return new ArgumentType.Int(number, unit, names == null ? Map.of() : names);
    }
}
