package io.bpf4j.core;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfType;
import java.util.HashMap;
import java.util.Map;

/**
 * One BTF with a cache of decoded types: each relocation of a program may need the 250 members of {@code task_struct}.
 * <i>Confined.</i>
 */
final class Types {
    private final Btf btf;
    private final Map<Integer, BtfType> decoded = new HashMap<>();

    Types(Btf btf) {
        this.btf = btf;
    }

    Btf btf() {
        return btf;
    }

    BtfType type(int id) {
        BtfType type = decoded.get(id);
        if (type == null) {
            type = btf.type(id);
            decoded.put(id, type);
        }
        return type;
    }

    /** The type after any modifiers and typedefs. */
    BtfType resolved(int id) {
        return type(btf.resolve(id));
    }

    int resolve(int id) {
        return btf.resolve(id);
    }

    long size(int id) {
        return btf.size(id);
    }
}
