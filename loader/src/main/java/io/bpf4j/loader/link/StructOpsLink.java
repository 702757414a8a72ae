package io.bpf4j.loader.link;

import io.bpf4j.loader.map.BpfMap;

/** An attached struct_ops map: the kernel calls its functions until this is closed. <i>Thread-safe.</i> */
public interface StructOpsLink extends Link {
    /**
     * Puts another map of the same type in place, in one step.
     *
     * @throws io.bpf4j.loader.error.BpfException if the type can't be updated, or the map is none of it; the old one stays
     */
    void update(BpfMap map);
}
