package io.bpf4j.usdt;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.process.MappedFile;
import io.bpf4j.process.MappedRange;
import io.bpf4j.process.UprobeInodes;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.usdt.internal.attach.IpMap;
import io.bpf4j.usdt.internal.attach.ObjectSpecs;
import io.bpf4j.usdt.internal.attach.SiteAttacher;
import io.bpf4j.usdt.internal.note.SiteColumns;
import io.bpf4j.usdt.internal.spec.SpecMapFullException;
import io.bpf4j.usdt.internal.spec.SpecTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Attaches programs of one object to USDT probes. <i>Thread-safe.</i>
 *
 * {@snippet lang = "java":
 * Usdt usdt = Usdt.of(object);
 * try (UsdtLink link = usdt.attach(object.program("on_gc"), UsdtScan.ofProcess(pid).matching("hotspot:gc__begin"))) {
 *     …
 * }
 * }
 *
 * <p>Attaching is all or nothing: if a step fails, all completed steps are undone in reverse, spec IDs included. Events
 * are not undone: a program may run at some sites before the last one is attached, also in an attach that then fails.
 * An argument that can't be read and a site that the kernel would refuse are not failures, unless {@link
 * AttachOptions#strict} is set; {@link UsdtLink#problems} lists both.
 *
 * <p>An object that has no map {@code __bpf_usdt_specs} was built without {@code usdt.bpf.h}. Its programs can't read
 * arguments; their BPF cookie is the cookie of {@link AttachOptions}.
 */
public final class Usdt {
    /** The maximum number of unreadable arguments that are reported. */
    private static final int MAX_UNREADABLE = 100;

    private final BpfObject object;
    private final ObjectSpecs specs;

    private Usdt(BpfObject object, ObjectSpecs specs) {
        this.object = object;
        this.specs = specs;
    }

    /**
     * Returns an instance for the programs of an object. All instances for one object share its spec IDs; they need not
     * be closed.
     *
     * @throws io.bpf4j.loader.error.InvalidObjectException if the object's spec map has an unknown layout
     */
    public static Usdt of(BpfObject object) {
        return new Usdt(object, ObjectSpecs.of(object));
    }

    /** {@link #attach(Program, UsdtScan, AttachOptions)} with the defaults. */
    public UsdtLink attach(Program program, UsdtScan scan) {
        return attach(program, scan, AttachOptions.defaults());
    }

    /**
     * Attaches to all probes of a scan: in the process of {@link AttachOptions#pid}, else in the process that was
     * scanned, or in all processes if the scan is of files or of the machine. {@link #attach(Program, List,
     * AttachOptions)} does not know the scanned process: without {@link AttachOptions#pid} it attaches in all
     * processes.
     *
     * @throws UsdtException if the scan has no probes, with the reason
     */
    public UsdtLink attach(Program program, UsdtScan scan, AttachOptions options) {
        List<UsdtProbe> probes = scan.probes();
        if (probes.isEmpty()) {
            throw new UsdtException("attach " + program.name() + ": " + scan.whyNone());
        }
        boolean scannedOnly = options.pid().isEmpty() && scan.process().isPresent();
        return attach(
                program, probes, scannedOnly ? options.withPid(scan.process().getAsInt()) : options);
    }

    /** Attaches to some probes, in all processes; see {@link #attach(Program, List, AttachOptions)}. */
    public UsdtLink attach(Program program, List<UsdtProbe> probes) {
        return attach(program, probes, AttachOptions.defaults());
    }

    /**
     * Attaches to some probes, in one file or several: all, or none.
     *
     * @param program of this object. If it was loaded for another strategy, a second copy is loaded
     * @throws UsdtException if the kernel refuses a site, or the spec map is full
     * @throws UnsupportedFeatureException if the kernel lacks a feature that a probe needs
     */
    public UsdtLink attach(Program program, List<UsdtProbe> probes, AttachOptions options) {
        AttachPlan plan = plan(program, probes, options);
        try {
            return execute(plan, program, probes, options);
        } catch (UsdtException first) {
            AttachPlan perSite = AttachPlanner.perSite(plan, first).orElseThrow(() -> first);
            try {
                return execute(perSite, program, probes, options);
            } catch (RuntimeException second) {
                second.addSuppressed(first);
                throw second;
            }
        }
    }

    private UsdtLink execute(AttachPlan plan, Program program, List<UsdtProbe> probes, AttachOptions options) {
        String operation = "attach " + describe(probes);
        String description = program.name() + " to " + describe(probes);
        LinkGroup links = plan.strategy() == AttachStrategy.MULTI
                ? LinkGroup.inParallel(description)
                : LinkGroup.inSequence(description);
        try {
            return attach(operation, program, probes, options, plan, links);
        } catch (RuntimeException | Error e) { // the caller's function of cookies may throw anything
            links.closeAfter(e);
            if (e instanceof RuntimeException failure) {
                throw explained(operation, failure);
            }
            throw e;
        }
    }

    private AttachPlan plan(Program program, List<UsdtProbe> probes, AttachOptions options) {
        if (program.object() != object) {
            throw new IllegalArgumentException("program " + program.name() + " belongs to another object");
        }
        if (probes.isEmpty()) {
            throw new UsdtException("attach " + program.name() + ": no probes given");
        }
        String operation = "attach " + describe(probes);
        for (UsdtProbe probe : probes) {
            probe.binary().refusal().ifPresent(why -> {
                throw new UsdtException(operation + ": " + probe.binary().name() + " " + why);
            });
            if (options.strict() && !probe.problems().isEmpty()) {
                throw new UsdtException("attach " + program.name() + ": "
                        + probe.problems().getFirst() + " (refused because of the strict option)");
            }
        }
        AttachPlan plan = AttachPlanner.plan(operation, object.features(), probes, options.pid());
        return plan.withoutShared(UprobeInodes.shared(object.host(), plan.paths()));
    }

    /** The number of entries of the object's spec map that attachments use now. */
    public int specIdsInUse() {
        return specs.idsInUse();
    }

    private UsdtLink attach(
            String operation,
            Program program,
            List<UsdtProbe> probes,
            AttachOptions options,
            AttachPlan plan,
            LinkGroup links) {
        boolean multi = plan.strategy() == AttachStrategy.MULTI;
        Program loaded = multi ? program.forAttachType(AttachType.TRACE_UPROBE_MULTI) : program.withoutAttachType();
        Optional<SpecTable> table = specs.newTable();
        table.ifPresent(t -> links.afterClose(t::releaseAll));
        List<Diagnostic> unreadable = new ArrayList<>();
        Optional<MappedCode> code = options.pid().isPresent()
                ? Optional.of(new MappedCode(object.host(), options.pid().getAsInt()))
                : Optional.empty();
        for (AttachPlan.File file : plan.files()) {
            try (OpenFile opened = open(operation, file.binary())) {
                SiteAttacher attacher = new SiteAttacher(
                        loaded,
                        opened,
                        SiteColumns.join(file.probes().stream()
                                .map(probe -> SiteColumns.of(probe.sites()))
                                .toList()),
                        cookies(file, table, options, plan.strategy(), unreadable),
                        site -> file.probeOf(site).fullName(),
                        options.pid(),
                        links);
                switch (plan.strategy()) {
                    case MULTI -> attacher.byOneLink();
                    case COOKIE -> attacher.byCookies();
                    case IP_MAP -> attacher.byAddresses(ipMap(operation), mappings(operation, file.binary(), code));
                }
            }
        }
        return new UsdtLink(
                probes,
                plan,
                links,
                table.map(SpecTable::size).orElse(0),
                problems(
                        probes,
                        unreadable,
                        code.map(mapped -> notMapped(mapped, plan)).orElse(List.of())));
    }

    /**
     * The spec ID of each site in the low half and, if the value becomes a BPF cookie, the process in the high half:
     * see {@code usdt_process} in {@code usdt.h}. If the object has no spec map, the caller's cookie.
     */
    private static long[] cookies(
            AttachPlan.File file,
            Optional<SpecTable> table,
            AttachOptions options,
            AttachStrategy strategy,
            List<Diagnostic> unreadable) {
        long[] ids = new long[file.siteCount()];
        int at = 0;
        for (UsdtProbe probe : file.probes()) {
            SiteColumns sites = SiteColumns.of(probe.sites());
            long cookie = options.cookies().applyAsLong(probe);
            if (table.isPresent()) {
                SpecTable.Refusals refusals = (site, argument, reason) -> {
                    String problem = probe.fullName() + " in " + file.binary().name() + " at 0x"
                            + Long.toHexString(sites.address(site)) + ": argument " + argument + " can't be read: "
                            + reason;
                    if (options.strict()) {
                        throw new UsdtException("attach " + problem + " (refused because of the strict option)");
                    }
                    if (unreadable.size() < MAX_UNREADABLE) {
                        unreadable.add(new Diagnostic(Kind.UNREADABLE, probe.fullName(), problem));
                    }
                };
                table.get().idsOf(file.binary().machine(), sites, cookie, ids, at, refusals);
            } else {
                Arrays.fill(ids, at, at + sites.size(), cookie);
            }
            at += sites.size();
        }
        if (table.isPresent() && options.pid().isPresent() && strategy != AttachStrategy.IP_MAP) {
            long process = (long) options.pid().getAsInt() << Integer.SIZE;
            Arrays.setAll(ids, site -> ids[site] | process);
        }
        return ids;
    }

    private static List<Diagnostic> problems(
            List<UsdtProbe> probes, List<Diagnostic> unreadable, List<Diagnostic> notMapped) {
        // A probe may come in parts, each with the problems of the whole.
        Set<Diagnostic> problems = new LinkedHashSet<>();
        probes.forEach(probe -> problems.addAll(probe.problems()));
        problems.addAll(unreadable);
        problems.addAll(notMapped);
        return List.copyOf(problems);
    }

    /**
     * The files that the process has not mapped. This is not a failure, because the process may map them later. More
     * often the process is the wrong one or uses another copy of the library, and no probe ever fires.
     *
     * <p>A file counts as mapped if the inode is equal, without its device, or if the end of the path is: overlay and
     * btrfs file systems report another device in maps than in stat, and overlay at times another inode. A missing
     * report is better than a wrong one.
     */
    private static List<Diagnostic> notMapped(MappedCode code, AttachPlan plan) {
        Collection<MappedFile> mapped;
        try {
            mapped = code.files();
        } catch (IOException e) {
            return List.of(); // the process has ended, or may not be read: unknown
        }
        return plan.files().stream()
                .map(AttachPlan.File::binary)
                .filter(binary -> mapped.stream()
                        .noneMatch(
                                file -> file.key().inode() == binary.identity().inode()
                                        || binary.path().toString().endsWith(file.name())))
                .map(binary -> new Diagnostic(
                        Kind.NOT_MAPPED,
                        binary.name(),
                        "process " + code.pid() + " has not mapped " + binary.name()
                                + ": probes in this file fire only if the process maps it later"))
                .toList();
    }

    /**
     * Opens the file that was scanned; it stays open during attaching.
     *
     * <p>Offsets that were read from one file mean nothing in another: the breakpoint would go into the middle of an
     * instruction and corrupt the process that runs it. An upgrade may rename a new library over the old one between
     * scan and attach, so the opened file must be the file that was read.
     */
    private OpenFile open(String operation, UsdtBinary binary) {
        OpenFile opened = object.openFile(binary.path(), binary.name());
        if (opened.identity().equals(binary.identity())) {
            return opened;
        }
        opened.close();
        throw new UsdtException(operation + ": " + binary.name()
                + " was replaced or written after its probes were read; scan it again");
    }

    private IpMap ipMap(String operation) {
        return IpMap.of(object)
                .orElseThrow(() -> new UsdtException(operation + ": the object has no map '" + IpMap.NAME
                        + "', which replaces BPF cookies before Linux 5.15"));
    }

    /** Where the process has mapped the file's code; empty for a file at a fixed address. */
    private Optional<List<MappedRange>> mappings(String operation, UsdtBinary binary, Optional<MappedCode> code) {
        if (binary.fixedAddress()) {
            return Optional.empty();
        }
        MappedCode mapped = code.orElseThrow();
        try {
            List<MappedRange> all = mapped.ranges();
            List<MappedRange> ofFile =
                    all.stream().filter(m -> m.isOf(binary.identity())).toList();
            return Optional.of(
                    ofFile.isEmpty()
                            ? all.stream()
                                    .filter(m -> isMappingOf(mapped.pid(), m, binary))
                                    .toList()
                            : ofFile);
        } catch (IOException e) {
            throw new UsdtException(operation + ": " + e.getMessage(), e);
        }
    }

    /**
     * Whether the mapped file is the file that was scanned or, if it may not be opened, has the same name and inode.
     * For overlay and btrfs, which report another device in maps than in stat; overlay sometimes reports another inode,
     * too.
     */
    private boolean isMappingOf(int pid, MappedRange mapping, UsdtBinary binary) {
        String range = Long.toHexString(mapping.start()) + "-" + Long.toHexString(mapping.end());
        try {
            return FileIdentity.of(object.host().process(pid).resolve("map_files/" + range))
                    .equals(binary.identity());
        } catch (IOException e) {
            return mapping.inode() == binary.identity().inode()
                    && mapping.name().toString().equals(binary.name());
        }
    }

    private static String describe(List<UsdtProbe> probes) {
        if (probes.isEmpty()) {
            return "no probes";
        }
        UsdtProbe first = probes.getFirst();
        String file = first.binary().name();
        if (probes.size() == 1) {
            return first.fullName() + " in " + file;
        }
        long files = probes.stream().map(UsdtProbe::binary).distinct().count();
        return first.fullName() + " and " + (probes.size() - 1) + " more probes in "
                + (files == 1 ? file : files + " files");
    }

    /** Converts a failure to the exception that {@link #attach} declares; its message starts with the operation. */
    private static RuntimeException explained(String operation, RuntimeException e) {
        return switch (e) {
            case UsdtException u -> u;
            case UnsupportedFeatureException u -> u;
            case SpecMapFullException s -> withSuppressed(new UsdtException(operation + ": " + s.getMessage(), s), s);
            case BpfException b -> withSuppressed(new UsdtException(operation + ": " + b.getMessage(), b), b);
            default -> e;
        };
    }

    private static UsdtException withSuppressed(UsdtException to, RuntimeException from) {
        for (Throwable suppressed : from.getSuppressed()) {
            to.addSuppressed(suppressed);
        }
        return to;
    }
}
