package io.bpf4j.usdt.internal.process;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A file that a process has mapped executable. <b>Immutable</b>.
 *
 * @param name as the process sees it
 * @param path where to open it from here; null if there is no way
 * @param problem why there is no way; empty if there is one
 */
public record MappedFile(String name, @Nullable Path path, String problem) {}
