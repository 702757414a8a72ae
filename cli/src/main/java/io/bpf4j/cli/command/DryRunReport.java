package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.Records;
import io.bpf4j.cli.output.Text;
import io.bpf4j.loader.dryrun.Fit;
import io.bpf4j.loader.dryrun.Fit.Finding;
import io.bpf4j.loader.dryrun.Fit.Relocation;
import java.util.List;
import java.util.Locale;

/**
 * Reports whether an object fits a kernel, as text or JSON. <i>Confined.</i>
 *
 * <p>Tested by {@code CliTest}.
 */
final class DryRunReport {
    private final Fit fit;
    private final boolean verbose;

    /**
     * A report.
     *
     * @param verbose whether to print the result of each relocation
     */
    DryRunReport(Fit fit, boolean verbose) {
        this.fit = fit;
        this.verbose = verbose;
    }

    void print(Console console) {
        console.line(Text.printable(fit.source() + " on " + fit.kernel() + ": " + verdict()));
        fit.findings().forEach(finding -> console.line(Text.printable("  " + finding)));
        for (Fit.Program program : fit.programs()) {
            String name = "  " + program.program() + (program.autoload() ? "" : " (optional)") + ": ";
            program.findings().forEach(finding -> console.line(Text.printable(name + finding)));
            if (verbose) {
                if (program.fits()) {
                    console.line(Text.printable(name + "fits"));
                }
                program.relocations()
                        .forEach(relocation ->
                                console.line(Text.printable("    " + relocation.location() + ": " + relocation)));
            }
        }
    }

    private String verdict() {
        long failing = fit.programs().stream().filter(p -> !p.fits()).count();
        if (fit.fits()) {
            return "fits" + (failing == 0 ? "" : ", without " + Scans.count(failing, "optional program"));
        }
        return "does not fit";
    }

    String json() {
        JsonLine line = Records.begin("fit")
                .field("file", fit.source())
                .field("kernel", fit.kernel())
                .field("fits", fit.fits());
        findings(line, fit.findings());
        line.key("programs").beginArray();
        for (Fit.Program program : fit.programs()) {
            line.beginObject()
                    .field("name", program.program())
                    .field("section", program.sectionName())
                    .field("autoload", program.autoload())
                    .field("fits", program.fits());
            findings(line, program.findings());
            if (verbose) {
                relocations(line, program.relocations());
            }
            line.endObject();
        }
        return line.endArray().endObject().toString();
    }

    private static void findings(JsonLine line, List<Finding> findings) {
        line.key("findings").beginArray();
        for (Finding finding : findings) {
            line.beginObject().field("kind", finding.kind().name().toLowerCase(Locale.ROOT));
            finding.location().ifPresent(location -> location(line, location));
            line.field("problem", finding.problem()).endObject();
        }
        line.endArray();
    }

    private static void location(JsonLine line, Finding.Location location) {
        line.field("function", location.function())
                .field("instruction", location.instruction())
                .field("source", location.source());
    }

    private static void relocations(JsonLine line, List<Relocation> relocations) {
        line.key("relocations").beginArray();
        for (Relocation relocation : relocations) {
            line.beginObject();
            location(line, relocation.location());
            line.field("question", relocation.question());
            relocation.local().ifPresent(value -> line.field("local", value));
            relocation.target().ifPresent(value -> line.field("target", value));
            line.field("resolved", relocation.isResolved()).endObject();
        }
        line.endArray();
    }
}
