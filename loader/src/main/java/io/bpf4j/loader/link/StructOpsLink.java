package io.bpf4j.loader.link;

import io.bpf4j.loader.internal.attach.StructOpsKind;
import io.bpf4j.loader.map.BpfMap;

/** An attached struct_ops map: the kernel calls its programs until the link is closed. <i>Thread-safe.</i> */
public sealed interface StructOpsLink extends Link permits StructOpsKind {
    /**
     * Replaces the map atomically by another map of the same type.
     *
     * @throws io.bpf4j.sys.BpfException if the type can't be updated, or the map is of another type; the old
     *     map stays
     */
    void update(BpfMap map);
}
