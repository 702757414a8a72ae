package io.bpf4j.usdt;

import io.bpf4j.elf.ElfClass;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.ElfHeader;
import io.bpf4j.elf.ElfMachine;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.usdt.internal.note.NoteReader;
import io.bpf4j.usdt.internal.note.NoteScan;
import io.bpf4j.usdt.site.Machine;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes probes of the notes of a file. */
final class FileScanner {
    private FileScanner() {}

    /** Reads everything that attaching needs, so that the file can be closed before attaching. */
    static UsdtScan scan(ElfFile elf, Path path, String name) {
        ElfHeader header = elf.header();
        Machine machine = Machine.of(header.machine(), header.elfClass() == ElfClass.ELF64);
        UsdtBinary binary =
                new UsdtBinary(path, name, machine, header.type() == ElfHeader.ET_EXEC, identity(elf), refusal(header));
        NoteScan notes = NoteReader.read(elf, machine);
        List<UsdtProbe> probes = notes.probes().stream()
                .map(probe -> new UsdtProbe(binary, probe.provider(), probe.name(), probe.sites(), probe.problems()))
                .toList();
        return new UsdtScan(path, name, probes, notes.problems());
    }

    /** The reason why no process of this machine can run such a file; null if one can. */
    private static @Nullable String refusal(ElfHeader header) {
        Machine host = Machine.ofHost();
        if (header.type() == ElfHeader.ET_REL) {
            return "is an object file (ET_REL): what is linked from it can be attached to";
        }
        if (header.type() == ElfHeader.ET_CORE) {
            return "is a core dump (ET_CORE), which nobody runs";
        }
        if (host == Machine.OTHER) {
            return null;
        }
        if (!host.runs(header.machine())) {
            return "is compiled for " + ElfMachine.name(header.machine()) + ", and this machine is "
                    + host.machineName();
        }
        return header.order() == ByteOrder.nativeOrder() ? null : "is compiled for a machine of the other byte order";
    }

    /** A scan is always of a file; this class never parses a file from bytes. */
    private static FileIdentity identity(ElfFile elf) {
        return elf.identity().orElseThrow(() -> new IllegalArgumentException(elf.source() + " is not a file"));
    }
}
