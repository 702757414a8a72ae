package io.bpf4j.loader.link;

import io.bpf4j.loader.kernel.LinkType;
import java.util.Optional;

/**
 * What the kernel says about a link ({@code struct bpf_link_info}). <i>Immutable.</i>
 *
 * @param id the kernel's id of the link
 * @param typeNumber the kernel's number of its type
 * @param programId the kernel's id of the attached program; 0 for struct_ops
 * @param detail what its type adds
 */
public record LinkInfo(int id, int typeNumber, int programId, LinkDetail detail) {
    /** The type; empty if it is newer than this library. */
    public Optional<LinkType> type() {
        return LinkType.of(typeNumber);
    }
}
