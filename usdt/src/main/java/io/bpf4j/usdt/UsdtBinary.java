package io.bpf4j.usdt;

import io.bpf4j.elf.FileIdentity;
import java.nio.file.Path;

/**
 * A file with probes. <b>Immutable</b>.
 *
 * @param path where to open it. For a file of another mount namespace or a deleted one this leads through
 *     {@code /proc/PID}
 * @param name the file as its own process calls it; the text of {@code path} for a file that was given by path
 * @param machine what it is compiled for
 * @param fixedAddress whether it is loaded at the addresses that the file gives (ELF type ET_EXEC), rather than
 *     anywhere
 * @param identity which file it was when its notes were read: attaching refuses another one
 */
public record UsdtBinary(Path path, String name, Machine machine, boolean fixedAddress, FileIdentity identity) {}
