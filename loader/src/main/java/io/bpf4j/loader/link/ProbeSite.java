package io.bpf4j.loader.link;

/**
 * An instruction to probe. <i>Immutable.</i>
 *
 * @param fileOffset where it is in the file, in bytes
 * @param refCounterOffset where its semaphore is in the file, in bytes: a 16-bit counter that the kernel raises while a
 *     probe is attached (Linux 4.20); 0 for none
 * @param cookie what {@code bpf_get_attach_cookie()} gives when it fires
 */
public record ProbeSite(long fileOffset, long refCounterOffset, long cookie) {
    public static ProbeSite at(long fileOffset) {
        return new ProbeSite(fileOffset, 0, 0);
    }
}
