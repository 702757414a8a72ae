package io.bpf4j.cli.command;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfType;
import io.bpf4j.cli.output.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A type of BTF as it is stored: a line for it, and an indented one for each of its parts, in the form that bpftool has.
 */
final class BtfListing {
    private BtfListing() {}

    static List<String> lines(Btf btf, int id) {
        BtfType type = btf.type(id);
        List<String> lines = new ArrayList<>();
        lines.add("[" + id + "] " + type.kind() + " " + name(type.name()) + described(type));
        parts(btf, type).forEach(part -> lines.add("\t" + part));
        return lines;
    }

    private static String name(String name) {
        return name.isEmpty() ? "'(anon)'" : "'" + Text.printable(name) + "'";
    }

    private static String described(BtfType type) {
        return switch (type) {
            case BtfType.Int t ->
                " size=" + t.size() + " bits_offset=" + t.bitOffset() + " nr_bits=" + t.bits() + " encoding="
                        + encoding(t);
            case BtfType.Ptr t -> " type_id=" + t.type();
            case BtfType.Array t ->
                " type_id=" + t.elementType() + " index_type_id=" + t.indexType() + " nr_elems=" + t.count();
            case BtfType.Composite t ->
                " size=" + t.size() + " vlen=" + t.members().size();
            case BtfType.Enumeration t ->
                " encoding=" + (t.signed() ? "SIGNED" : "UNSIGNED") + " size=" + t.size() + " vlen="
                        + t.values().size();
            case BtfType.Fwd t -> " fwd_kind=" + (t.isUnion() ? "union" : "struct");
            case BtfType.Typedef t -> " type_id=" + t.type();
            case BtfType.Modifier t -> " type_id=" + t.type();
            case BtfType.Func t -> " type_id=" + t.type() + " linkage=" + linkage(t.linkage());
            case BtfType.FuncProto t ->
                " ret_type_id=" + t.returnType() + " vlen=" + t.parameters().size();
            case BtfType.Var t -> " type_id=" + t.type() + ", linkage=" + linkage(t.linkage());
            case BtfType.Datasec t ->
                " size=" + t.size() + " vlen=" + t.variables().size();
            case BtfType.FloatingPoint t -> " size=" + t.size();
            case BtfType.DeclTag t -> " type_id=" + t.type() + " component_idx=" + t.component();
            case BtfType.VoidType _ -> "";
        };
    }

    private static String encoding(BtfType.Int type) {
        return type.encoding() == 0
                ? "(none)"
                : Stream.of(
                                (type.encoding() & BtfType.Int.SIGNED) != 0 ? "SIGNED" : "",
                                (type.encoding() & BtfType.Int.CHAR) != 0 ? "CHAR" : "",
                                (type.encoding() & BtfType.Int.BOOL) != 0 ? "BOOL" : "")
                        .filter(word -> !word.isEmpty())
                        .collect(Collectors.joining("|"));
    }

    private static String linkage(int linkage) {
        return switch (linkage) {
            case BtfType.Linkage.STATIC -> "static";
            case BtfType.Linkage.GLOBAL -> "global";
            case BtfType.Linkage.EXTERN -> "extern";
            default -> Integer.toString(linkage);
        };
    }

    private static Stream<String> parts(Btf btf, BtfType type) {
        return switch (type) {
            case BtfType.Composite t ->
                t.members().stream()
                        .map(member -> name(member.name()) + " type_id=" + member.type() + " bits_offset="
                                + member.bitOffset()
                                + (member.isBitField() ? " bitfield_size=" + member.bitSize() : ""));
            case BtfType.Enumeration t ->
                t.values().stream()
                        .map(value -> name(value.name()) + " val="
                                + (t.signed() ? Long.toString(value.value()) : Long.toUnsignedString(value.value()))
                                + (t instanceof BtfType.Enum32 ? "" : t.signed() ? "LL" : "ULL"));
            case BtfType.FuncProto t ->
                t.parameters().stream().map(parameter -> name(parameter.name()) + " type_id=" + parameter.type());
            case BtfType.Datasec t ->
                t.variables().stream()
                        .map(variable -> "type_id=" + variable.type() + " offset=" + variable.offset() + " size="
                                + variable.size() + " (" + btf.kind(variable.type()) + " "
                                + name(btf.name(variable.type())) + ")");
            default -> Stream.of();
        };
    }
}
