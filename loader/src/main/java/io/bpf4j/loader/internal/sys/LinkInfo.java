package io.bpf4j.loader.internal.sys;

/**
 * What the kernel says about a link, as far as every kind has it ({@code struct bpf_link_info}). <i>Immutable.</i>
 *
 * @param type the kernel's number ({@code enum bpf_link_type})
 * @param id the kernel's id of the link
 * @param programId the kernel's id of the attached program
 */
public record LinkInfo(int type, int id, int programId) {}
