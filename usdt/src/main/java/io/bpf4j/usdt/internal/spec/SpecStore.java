package io.bpf4j.usdt.internal.spec;

/** The map {@code __bpf_usdt_specs}, seen as an array of specs. */
public interface SpecStore {

    /** Files a spec. */
    void put(int id, byte[] spec);
}
