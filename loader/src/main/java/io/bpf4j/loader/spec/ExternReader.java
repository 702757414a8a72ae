package io.bpf4j.loader.spec;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.Symbol;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.ExternSpec.KconfigType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads externs: undefined symbols whose kind is the name of their DATASEC in BTF. {@code .kconfig} holds variables
 * that the loader fills with values of the kernel's configuration; they get their own map, which this class lays out.
 * {@code .ksyms} holds kernel variables and functions. <i>Confined.</i>
 *
 * <p>Tested by {@code ObjectFormsTest} and {@code ObjectSpecTest}.
 */
final class ExternReader {
    private static final String KSYMS = ".ksyms";

    /** Bytes of all kconfig externs: one may have 4096 bytes, and an object millions. */
    private static final int MAX_KCONFIG = 1 << 24;

    private final ObjectFile file;
    private final List<ExternSpec> externs = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private final List<Kconfig> unplaced = new ArrayList<>();
    private final List<GlobalSpec> kconfigVariables = new ArrayList<>();
    private int kconfigSize;

    /** A kconfig extern without its offset, which depends on all of them. */
    private record Kconfig(String name, boolean weak, int typeId, int variableId, int size, int alignment) {}

    ExternReader(ObjectFile file) {
        this.file = file;
    }

    List<ExternSpec> all() {
        return externs;
    }

    void read() {
        Map<String, Integer> kconfig = members(DataSection.KCONFIG);
        Map<String, Integer> ksyms = members(KSYMS);
        for (Symbol symbol : file.symbols) {
            if (symbol.index() == 0 || symbol.isDefined() || symbol.name().isEmpty() || symbol.isLocal()) {
                continue;
            }
            Integer option = kconfig.get(symbol.name());
            Integer ksym = ksyms.get(symbol.name());
            if ((option != null || ksym != null) && !names.add(symbol.name())) {
                throw invalid(symbol, "has two symbols");
            }
            if (option != null) {
                unplaced.add(kconfig(symbol, option));
            } else if (ksym != null) {
                externs.add(ksym(symbol, ksym));
            }
        }
        layOut();
    }

    /** Lays out the kconfig externs, the widest first, as libbpf does, so that the maps are equal. */
    private void layOut() {
        unplaced.sort(Comparator.comparingInt(Kconfig::alignment)
                .reversed()
                .thenComparingInt(Kconfig::size)
                .thenComparing(Kconfig::name));
        for (Kconfig each : unplaced) {
            int offset = (kconfigSize + each.alignment() - 1) & -each.alignment();
            kconfigSize = offset + each.size();
            if (kconfigSize > MAX_KCONFIG) {
                throw file.invalid("the externs of section .kconfig have more than " + MAX_KCONFIG + " bytes");
            }
            externs.add(new ExternSpec(
                    ExternSpec.Kind.KCONFIG, each.name(), each.weak(), each.typeId(), offset, each.size()));
            kconfigVariables.add(new GlobalSpec(
                    each.name(), DataSection.KCONFIG, offset, each.size(), each.typeId(), each.variableId(), true));
        }
    }

    /** The section of the kconfig externs: read-only, its values are set at load. */
    Optional<DataSection> kconfig() {
        return kconfigSize == 0
                ? Optional.empty()
                : Optional.of(
                        new DataSection(DataSection.KCONFIG, 0, new byte[0], kconfigSize, true, kconfigVariables));
    }

    /** BTF ids of the variables and functions of a DATASEC, by name. */
    private Map<String, Integer> members(String datasec) {
        Map<String, Integer> members = new HashMap<>();
        file.datasec(datasec)
                .ifPresent(section -> section.variables()
                        .forEach(variable -> members.put(file.types().name(variable.type()), variable.type())));
        return members;
    }

    private Kconfig kconfig(Symbol symbol, int id) {
        Btf types = file.types();
        if (!(types.type(id) instanceof BtfType.Var variable)) {
            throw invalid(symbol, "of section .kconfig is not a variable");
        }
        if (!symbol.name().startsWith("CONFIG_") && !symbol.name().startsWith("LINUX_")) {
            throw invalid(symbol, "is declared __kconfig, but named neither CONFIG_… nor LINUX_…");
        }
        KconfigType type = KconfigType.of(types, variable.type())
                .orElseThrow(() -> invalid(
                        symbol,
                        "has a type that no kernel option can have: declare it as bool, char, an integer,"
                                + " enum libbpf_tristate or an array of char"));
        long size = types.size(variable.type());
        if (size <= 0 || size > 4096) {
            throw invalid(symbol, "has " + size + " bytes, but 1 to 4096 are allowed");
        }
        return new Kconfig(symbol.name(), symbol.isWeak(), variable.type(), id, (int) size, type.alignment((int) size));
    }

    private ExternSpec ksym(Symbol symbol, int id) {
        Btf types = file.types();
        return switch (types.type(id)) {
            case BtfType.Func func -> new ExternSpec(ExternSpec.Kind.KFUNC, symbol.name(), symbol.isWeak(), id, 0, 0);
            case BtfType.Var variable -> {
                boolean typeless = types.type(types.skipModifiers(variable.type())) instanceof BtfType.VoidType;
                yield new ExternSpec(
                        typeless ? ExternSpec.Kind.KSYM : ExternSpec.Kind.KSYM_TYPED,
                        symbol.name(),
                        symbol.isWeak(),
                        variable.type(),
                        0,
                        0);
            }
            default -> throw invalid(symbol, "of section .ksyms is neither a variable nor a function");
        };
    }

    private InvalidObjectException invalid(Symbol symbol, String problem) {
        return file.invalid("extern \"" + symbol.name() + "\" " + problem);
    }
}
