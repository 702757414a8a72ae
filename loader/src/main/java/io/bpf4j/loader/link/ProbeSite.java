package io.bpf4j.loader.link;

/**
 * An instruction to probe. <i>Immutable.</i>
 *
 * @param fileOffset file offset of the instruction in bytes
 * @param refCounterOffset file offset of its semaphore in bytes: a 16-bit counter that the kernel increments while a
 *     probe is attached (Linux 4.20); 0 for none
 * @param cookie the value that {@code bpf_get_attach_cookie()} returns when it fires
 */
public record ProbeSite(long fileOffset, long refCounterOffset, long cookie) {
    public static ProbeSite at(long fileOffset) {
        return new ProbeSite(fileOffset, 0, 0);
    }
}
