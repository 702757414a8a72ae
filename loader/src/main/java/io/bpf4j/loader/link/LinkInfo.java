package io.bpf4j.loader.link;

/**
 * The kernel's information about a link ({@code struct bpf_link_info}). <i>Immutable.</i>
 *
 * @param id the kernel's id of the link
 * @param typeNumber the kernel's number of its type ({@code enum bpf_link_type})
 * @param programId the kernel's id of the attached program; 0 for struct_ops
 * @param detail the fields that depend on the type
 */
public record LinkInfo(int id, int typeNumber, int programId, LinkDetail detail) {}
