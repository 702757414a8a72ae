package io.bpf4j.loader.internal.plan;

import io.bpf4j.loader.feature.Features;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.kernel.Feature;

/**
 * Where the variables of an object are in its arena.
 *
 * <p>From Linux 7.0 on they take the last pages, as with libbpf since 1.8 (its commit c1f61171d44b). So a program can
 * leave the first pages of its arena unused, and an access by a null pointer does not change a variable. Older kernels
 * refuse a constant offset of 512 MiB or more; there the variables begin at 0, in a small arena, too, so that a program
 * has one layout on a kernel.
 *
 * <p>Tested by {@code WholeObjectTest} and {@code ArenaOnKernelTest}.
 */
public final class ArenaVariables {
    private ArenaVariables() {}

    /**
     * The offset of the first variable in the arena, in bytes; an unsigned number, because an arena may have 4 GiB.
     *
     * @param pages of the arena
     * @param bytes of all variables
     */
    public static int start(int pages, int bytes, Features features, Host host) {
        long page = host.pageSize();
        long size = Integer.toUnsignedLong(pages) * page;
        long taken = (bytes + page - 1) / page * page;
        return taken <= size && features.has(Feature.LARGE_MAP_OFFSET) ? (int) (size - taken) : 0;
    }
}
