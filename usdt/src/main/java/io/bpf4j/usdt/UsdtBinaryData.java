package io.bpf4j.usdt;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.usdt.site.Machine;
import java.nio.file.Path;
import java.util.Optional;

/** The only implementation of {@link UsdtBinary}. */
record UsdtBinaryData(
        Path path, String name, Machine machine, boolean fixedAddress, FileIdentity identity, Optional<String> refusal)
        implements UsdtBinary {}
