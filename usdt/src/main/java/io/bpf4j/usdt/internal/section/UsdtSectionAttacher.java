package io.bpf4j.usdt.internal.section;

import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.SectionAttacher;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.link.LibrarySearch;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.SectionKind;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.usdt.AttachStrategy;
import io.bpf4j.usdt.ProbePattern;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/** Attaches {@code SEC("usdt/PATH:PROVIDER:NAME")} and {@code SEC("usdt.s/…")}. <i>Thread-safe.</i> */
public final class UsdtSectionAttacher implements SectionAttacher {

    @Override
    public boolean handles(ProgramSpec program) {
        return program.kind()
                .map(SectionKind::name)
                .filter(name -> name.equals("usdt") || name.equals("usdt.s"))
                .isPresent();
    }

    @Override
    public Optional<AttachType> attachType(ProgramSpec program, Features features) {
        return AttachStrategy.bestFor(features) == AttachStrategy.MULTI
                ? Optional.of(AttachType.TRACE_UPROBE_MULTI)
                : Optional.empty();
    }

    @Override
    public Link attach(Program program) {
        String section = program.spec().sectionName();
        Target target = Target.parse(program.spec().target())
                .orElseThrow(() -> new UsdtException("attach " + program.name() + ": SEC(\"" + section
                        + "\") does not name a probe; use Usdt.attach, or SEC(\"usdt/PATH:PROVIDER:NAME\")"));
        Path path = LibrarySearch.ofThisMachine().find(target.path());
        ProbePattern pattern = new ProbePattern(target.provider(), target.name());
        return Usdt.of(program.object()).attach(program, scan(path, pattern).matching(pattern));
    }

    private static UsdtScan scan(Path path, ProbePattern pattern) {
        try {
            return UsdtScan.ofFile(path);
        } catch (IOException | MalformedDataException e) {
            String why = switch (e) {
                case NoSuchFileException _ -> "no such file";
                case AccessDeniedException _ -> "permission denied";
                default -> String.valueOf(e.getMessage());
            };
            throw new UsdtException("attach " + pattern + " in " + path + ": " + why, e);
        }
    }

    /**
     * The target in a section's name: {@code /usr/lib/libjvm.so:hotspot:gc__begin} of {@code
     * SEC("usdt//usr/lib/libjvm.so:hotspot:gc__begin")}. <i>Immutable.</i>
     *
     * <p>The last two colons separate path, provider and name, so a path may contain colons.
     */
    record Target(String path, String provider, String name) {

        static Optional<Target> parse(String target) {
            int nameColon = target.lastIndexOf(':');
            int providerColon = target.lastIndexOf(':', nameColon - 1);
            if (nameColon < 0 || providerColon <= 0) {
                return Optional.empty();
            }
            String provider = target.substring(providerColon + 1, nameColon);
            String name = target.substring(nameColon + 1);
            return provider.isEmpty() || name.isEmpty()
                    ? Optional.empty()
                    : Optional.of(new Target(target.substring(0, providerColon), provider, name));
        }
    }
}
