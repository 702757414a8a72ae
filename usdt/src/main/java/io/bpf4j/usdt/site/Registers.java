package io.bpf4j.usdt.site;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The register names of a machine: each spelling with the full name, width and offset in {@code struct pt_regs}.
 *
 * <p>Tested by {@code ArgVectorsTest} and {@code UsdtArgTest}.
 */
final class Registers {

    /**
     * One spelling.
     *
     * @param fullName the name in operands
     * @param width bytes
     * @param offset byte offset into struct pt_regs
     */
    record Register(String fullName, int width, int offset) {}

    private final Map<String, Register> bySpelling = new HashMap<>();

    /** Adds a register whose first spelling is its full name. */
    Registers add(int offset, int width, String fullName, String... otherSpellings) {
        bySpelling.put(fullName, new Register(fullName, width, offset));
        return alias(fullName, width, otherSpellings);
    }

    /** Adds registers of 8 bytes, one after the other, which have numbers from 1 on as further spellings: {@code x1}. */
    Registers addNumbered(int offset, String prefix, String... fullNames) {
        for (int i = 0; i < fullNames.length; i++) {
            add(offset + 8 * i, 8, fullNames[i], prefix + (i + 1));
        }
        return this;
    }

    /** Adds further spellings of a register or of a narrower part of it. */
    Registers alias(String fullName, int width, String... spellings) {
        int offset = offsetOf(fullName).orElseThrow();
        for (String spelling : spellings) {
            bySpelling.put(spelling, new Register(fullName, width, offset));
        }
        return this;
    }

    /** Adds a register and parts of it, each the lower half of the one before: {@code rax}, eax, ax, al. */
    Registers addHalves(int offset, int width, String fullName, String... halves) {
        add(offset, width, fullName);
        for (int i = 0; i < halves.length; i++) {
            alias(fullName, width >> (i + 1), halves[i]);
        }
        return this;
    }

    Optional<Register> find(String spelling) {
        return Optional.ofNullable(bySpelling.get(spelling));
    }

    OptionalInt offsetOf(String fullName) {
        Register register = bySpelling.get(fullName);
        return register == null ? OptionalInt.empty() : OptionalInt.of(register.offset());
    }
}
