package io.bpf4j.cli.command;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfFile;
import io.bpf4j.cli.failure.ErrorText;
import io.bpf4j.cli.failure.InputFile;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.OutputClosedException;
import io.bpf4j.cli.output.Records;
import io.bpf4j.cli.output.Text;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.DryRun;
import io.bpf4j.loader.dryrun.Fit;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Loads objects into the kernel and unloads them, to check whether this kernel accepts them.
 *
 * <p>Tested by {@code ObjectCommandsTest} and {@code CliTraceTest}.
 */
@Command(
        name = "load",
        description = {
            "Loads each BPF object into the kernel and unloads it again, to check whether this kernel accepts it.",
            "Needs root, or CAP_BPF and CAP_PERFMON.",
            "With --dry-run, checks whether the kernels of the given BTFs have what the object needs; needs no "
                    + "privileges."
                    + " The exit code is 1 if one lacks something that the programs reach."
        },
        footer = {
            "  bpf4j load program.bpf.o",
            "  bpf4j load --json *.bpf.o | jq 'select(.ok | not)'",
            "  bpf4j load --dry-run --btf btfhub-archive/ubuntu program.bpf.o"
        })
final class LoadCommand implements Callable<Integer> {
    private final Console console;
    private Optional<Btf> target = Optional.empty();

    @Option(names = "--json", description = "One JSON object for each file.")
    private boolean json;

    @Option(
            names = "--btf",
            paramLabel = "BTF",
            description = {
                "Types to relocate against, instead of the running kernel's: raw BTF, an ELF file with .BTF such as"
                        + " vmlinux, or BTFHub's .btf.tar.xz.",
                "With --dry-run, this may be a folder of such files, and may be given more than once."
            })
    private List<Path> btfs = new ArrayList<>();

    @Option(
            names = "--dry-run",
            description = "Only relocate, and report for each program what the kernel of each BTF lacks.")
    private boolean dryRun;

    @Option(
            names = {"-v", "--verbose"},
            description = "With --dry-run: also print the result of each relocation.")
    private boolean verbose;

    @Spec
    private @Nullable CommandSpec command;

    @Parameters(arity = "1..*", paramLabel = "FILE", description = "BPF objects, as clang -target bpf -c makes them.")
    private List<Path> files = new ArrayList<>();

    LoadCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws IOException {
        if (dryRun) {
            return dryRun();
        }
        if (btfs.size() > 1) {
            throw new ParameterException(
                    Objects.requireNonNull(command).commandLine(),
                    "--btf can be given more than once only with --dry-run: an object is loaded for one kernel");
        }
        target = btfs.isEmpty()
                ? Optional.empty()
                : Optional.of(BtfFile.read(InputFile.check(btfs.getFirst()), OpenFile.opener(Host.running())));
        boolean failed = false;
        for (Path file : files) {
            Outcome outcome = load(file);
            failed |= !outcome.ok();
            if (json) {
                console.line(outcome.json());
            } else if (outcome.ok()) {
                console.line(Text.printable(outcome.text()));
            } else {
                console.flush();
                console.error("bpf4j: " + outcome.text());
            }
        }
        return failed ? CommandTree.FAILED : CommandTree.OK;
    }

    /** The outer loop is over kernels, because a kernel's BTF is large and is read once for all objects. */
    private int dryRun() throws IOException {
        List<ObjectSpec> objects = new ArrayList<>();
        boolean failed = false;
        for (Path file : files) {
            try {
                objects.add(ObjectSpec.read(InputFile.check(file), OpenFile.opener(Host.running())));
            } catch (IOException | RuntimeException | StackOverflowError | OutOfMemoryError e) {
                failed = true;
                Outcome outcome = new Outcome(file, "open", ErrorText.of(e), 0, 0);
                if (json) {
                    console.line(outcome.json());
                } else {
                    reportError(outcome.text());
                }
            }
        }
        if (objects.isEmpty() && btfs.isEmpty()) {
            return CommandTree.FAILED;
        }
        DryRuns runs = new DryRuns(objects);
        if (btfs.isEmpty()) {
            Host host = Host.running();
            runs.check("this kernel", object -> DryRun.ofKernel(object, host));
        }
        for (Path btf : btfs) {
            try {
                boolean folder = !btf.toString().isEmpty() && Files.isDirectory(btf);
                BtfFile.forEach(folder ? btf : InputFile.check(btf), OpenFile.opener(Host.running()), runs);
            } catch (OutputClosedException e) {
                throw e;
            } catch (IOException | RuntimeException | OutOfMemoryError e) {
                runs.failed = true;
                reportError(ErrorText.of(e));
            }
        }
        return failed || runs.failed ? CommandTree.FAILED : CommandTree.OK;
    }

    private void reportError(String text) {
        console.flush();
        console.error("bpf4j: " + text);
    }

    private final class DryRuns implements BtfFile.Taker {
        private final List<ObjectSpec> objects;
        private boolean failed;

        DryRuns(List<ObjectSpec> objects) {
            this.objects = objects;
        }

        @Override
        public void take(String name, Btf kernel) {
            check(name, object -> DryRun.of(object, kernel));
        }

        void check(String name, Function<ObjectSpec, Fit> kernel) {
            for (ObjectSpec object : objects) {
                Fit fit;
                try {
                    fit = kernel.apply(object);
                } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
                    failed = true;
                    reportError(object.source() + " on " + name + ": " + ErrorText.of(e));
                    continue;
                }
                failed |= !fit.fits();
                DryRunReport report = new DryRunReport(fit, verbose);
                if (json) {
                    console.line(report.json());
                } else {
                    report.print(console);
                }
            }
        }

        @Override
        public void refused(String name, IOException problem) {
            failed = true;
            reportError(ErrorText.of(problem));
        }
    }

    private Outcome load(Path file) {
        ObjectSpec spec;
        try {
            spec = ObjectSpec.read(InputFile.check(file), OpenFile.opener(Host.running()));
        } catch (IOException | RuntimeException | StackOverflowError | OutOfMemoryError e) {
            // After any failure with this file, even one caused by a defect of bpf4j, continue with the next one.
            return new Outcome(file, "open", ErrorText.of(e), 0, 0);
        }
        BpfLoader loader = BpfLoader.of(spec);
        target.ifPresent(loader::targetBtf);
        try (BpfObject object = loader.load()) {
            object.removeOwnPins();
            return new Outcome(
                    file, "load", null, object.programs().size(), object.maps().size());
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
            return new Outcome(
                    file,
                    "load",
                    ErrorText.of(e),
                    spec.programs().size(),
                    spec.maps().size());
        }
    }

    /** The result of a file; {@code error} is null if the file was loaded. */
    private record Outcome(
            Path file, String stage, @Nullable String error, int programs, int maps) {
        boolean ok() {
            return error == null;
        }

        String text() {
            if (error == null) {
                return file + ": " + Scans.count(programs, "program") + ", " + Scans.count(maps, "map") + " loaded";
            }
            return error.startsWith(file.toString()) ? error : file + ": " + error;
        }

        String json() {
            return Records.begin("load")
                    .field("file", file.toString())
                    .field("ok", ok())
                    .field("stage", stage)
                    .field("error", error)
                    .field("programs", programs)
                    .field("maps", maps)
                    .endObject()
                    .toString();
        }
    }
}
