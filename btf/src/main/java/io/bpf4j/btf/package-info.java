/**
 * BTF, the type information of BPF objects and of the kernel: reading, looking up types, writing.
 *
 * {@snippet lang = "java":
 * Btf kernel = BtfFile.read(Path.of("/sys/kernel/btf/vmlinux"));
 * int id = kernel.find("task_struct", BtfKind.STRUCT).orElseThrow();
 * if (kernel.type(id) instanceof BtfType.Struct task) {
 *     for (BtfType.Member member : task.members()) {
 *         System.out.println(member.bitOffset() / 8 + " " + member.name());
 *     }
 * }
 * }
 *
 * <p>The format is the kernel's, described in {@code Documentation/bpf/btf.rst} and {@code include/uapi/linux/btf.h}.
 * For malformed bytes every method throws {@link io.bpf4j.elf.MalformedDataException} and no other exception. Pure:
 * except for files ({@code BtfFile}), the caller reads and writes the bytes.
 */
@NullMarked
package io.bpf4j.btf;

import org.jspecify.annotations.NullMarked;
