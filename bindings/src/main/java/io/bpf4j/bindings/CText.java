package io.bpf4j.bindings;

import com.palantir.javapoet.CodeBlock;
import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfType;
import java.util.Locale;
import java.util.regex.Pattern;

/** C types as text, for comments in generated classes. */
final class CText {
    private static final int MAX_DEPTH = 32;

    /** The characters that could end a comment, or begin an escape, a tag or a line in it. */
    private static final Pattern UNSAFE = Pattern.compile("[^\\w .,:;/()<>\\[\\]=*+-]|(?<=\\*)/");

    private CText() {}

    /** A name of an object as a comment may have it: whoever made the object may have chosen any bytes. */
    static String safe(String name) {
        return UNSAFE.matcher(name).replaceAll("?");
    }

    /** A string literal. JavaPoet's own writes some line breaks of Unicode as they are, and then breaks the line. */
    static CodeBlock literal(String text) {
        StringBuilder escaped = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char each = text.charAt(i);
            if (each == '"' || each == '\\') {
                escaped.append('\\').append(each);
            } else if (each < ' ') {
                // In octal: Java replaces escapes of Unicode before it looks for the end of a line.
                escaped.append(String.format(Locale.ROOT, "\\%03o", (int) each));
            } else if (each < 0x7f || Character.isLetterOrDigit(each)) {
                escaped.append(each);
            } else {
                escaped.append(String.format(Locale.ROOT, "\\u%04x", (int) each));
            }
        }
        return CodeBlock.of("$L", escaped.append('"'));
    }

    /** A declaration, such as {@code char comm[16]}. */
    static String declaration(Btf types, int id, String name) {
        String declared = name;
        int at = id;
        for (int i = 0; i < MAX_DEPTH && types.type(types.skipModifiers(at)) instanceof BtfType.Array array; i++) {
            declared += array.count() == 0 ? "[]" : "[" + array.count() + "]";
            at = array.elementType();
        }
        String type = name(types, at);
        // As a whole: the star of a pointer and a slash of a name are the end of a comment.
        return safe(name.isEmpty() || type.endsWith("*") ? type + declared : type + " " + declared);
    }

    /** The name of a type, such as {@code struct event}, {@code __u32}, {@code void *}. */
    static String name(Btf types, int id) {
        return safe(name(types, id, 0));
    }

    private static String name(Btf types, int id, int depth) {
        if (depth > MAX_DEPTH) {
            return "void";
        }
        BtfType type = types.type(types.skipModifiers(id));
        return switch (type) {
            case BtfType.Ptr pointer -> {
                String target = name(types, pointer.type(), depth + 1);
                yield target + (target.endsWith("*") ? "*" : " *");
            }
            case BtfType.Struct _ -> ("struct " + type.name()).strip();
            case BtfType.Union _ -> ("union " + type.name()).strip();
            case BtfType.Fwd fwd -> (fwd.isUnion() ? "union " : "struct ") + type.name();
            case BtfType.Enumeration _ -> ("enum " + type.name()).strip();
            case BtfType.FuncProto _ -> "function";
            case BtfType.Array array -> name(types, array.elementType(), depth + 1) + "[" + array.count() + "]";
            default -> type.name().isEmpty() ? "void" : type.name();
        };
    }
}
