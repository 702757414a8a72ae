package io.bpf4j.trace;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.usdt.UsdtBinary;
import io.bpf4j.usdt.UsdtProbe;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Attaches to the probes of many files, of which some may have been removed or replaced after they were read: a process
 * ended, a package was upgraded. These are left out and named; one of them must not end a trace of all processes.
 *
 * <p>Tested by {@code ChangedFilesTest}.
 */
final class ChangedFiles {
    private ChangedFiles() {}

    /**
     * Attaches to all probes, or else to those whose files are still the same.
     *
     * @param attach to all of the probes, or to none
     * @param leftOut receives each file that is left out
     * @throws BpfException if the failure has another reason, or no file is left
     */
    static <T> T attachToOthers(
            List<UsdtProbe> probes, Function<List<UsdtProbe>, T> attach, Consumer<Diagnostic> leftOut) {
        Set<UsdtBinary> gone = new HashSet<>();
        while (true) {
            List<UsdtProbe> others = probes.stream()
                    .filter(probe -> !gone.contains(probe.binary()))
                    .toList();
            try {
                return attach.apply(others);
            } catch (BpfException e) {
                int before = gone.size();
                others.stream()
                        .map(UsdtProbe::binary)
                        .filter(file -> !isUnchanged(file))
                        .filter(gone::add)
                        .forEach(file -> leftOut.accept(new Diagnostic(
                                Diagnostic.Kind.LEFT_OUT,
                                file.name(),
                                file.name() + " is left out: it was removed or replaced after it was read")));
                if (gone.size() == before
                        || probes.stream().map(UsdtProbe::binary).allMatch(gone::contains)) {
                    throw e;
                }
            }
        }
    }

    private static boolean isUnchanged(UsdtBinary file) {
        try {
            return FileIdentity.of(file.path()).equals(file.identity());
        } catch (IOException e) {
            return false;
        }
    }
}
