package io.bpf4j.benchmarks;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfFile;
import io.bpf4j.cli.command.CommandTree;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.Interruption;
import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.loader.DryRun;
import io.bpf4j.loader.dryrun.Fit;
import io.bpf4j.loader.spec.ObjectSpec;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Reader;
import java.io.Writer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * How CO-RE grows with relocations, types and functions, by objects that {@link SyntheticElf} makes: planned by a dry
 * run, so neither the verifier nor the kernel takes part. Two of them are of hostile files: relocations in a section with
 * as many functions, of which {@code bpf4j inspect} prints each; and a module's distilled base in which all types have
 * one name. Needs no root.
 *
 * <p>Not by JMH, which would take minutes for so many sizes. Takes the number of shots, makes a third of them, and prints
 * lines for {@link Yardstick}.
 */
final class TypesMain {
    /** Rounds of each size before its shots, so that the code is compiled. */
    private static final int WARM_UP = 5;

    private static final int FEW = 100;

    private final int shots;

    private TypesMain(int shots) {
        this.shots = shots;
    }

    /** What is measured. */
    private interface Work {
        void run() throws IOException;
    }

    public static void main(String[] arguments) throws IOException {
        TypesMain types = new TypesMain(Math.ceilDiv(Integer.parseInt(arguments[0]), 3));
        for (int relocations : new int[] {100, 1000, 10_000}) {
            types.relocations(relocations);
        }
        for (int structs : new int[] {1000, 10_000, 100_000}) {
            types.structs(structs);
        }
        for (int functions : new int[] {1000, 5000, 20_000}) {
            types.functions(functions);
        }
        for (int names : new int[] {100, 300, 1000}) {
            types.oneName(names);
        }
    }

    /** Relocations of one program, each of another member, of a thousand structs. */
    private void relocations(int count) throws IOException {
        byte[] bytes = SyntheticElf.object(count, 1000, true);
        ObjectSpec object = ObjectSpec.parse("relocations.bpf.o", bytes);
        Btf kernel = parse(SyntheticElf.kernelTypes(1000));
        measure("openRelocations", count, () -> ObjectSpec.parse("relocations.bpf.o", bytes));
        measure("dryRunRelocations", count, () -> check(DryRun.of(object, kernel), count));
    }

    /** A hundred relocations against a kernel's types, which are read. */
    private void structs(int count) throws IOException {
        ObjectSpec object = ObjectSpec.parse("relocations.bpf.o", SyntheticElf.object(FEW, FEW, true));
        byte[] kernel = SyntheticElf.kernelTypes(count);
        measure("dryRunTypes", count, () -> check(DryRun.of(object, parse(kernel)), FEW));
    }

    private void functions(int count) throws IOException {
        Path file = Files.createTempFile("functions", ".bpf.o");
        try {
            Files.write(file, SyntheticElf.object(count, 1000, false));
            Console console = new Console(OutputStream.nullOutputStream(), Writer.nullWriter(), Reader.nullReader());
            CommandTree command = new CommandTree(console, new Interruption());
            measure("inspectFunctions", count, () -> {
                if (command.run("inspect", file.toString()) != CommandTree.OK) {
                    throw new IllegalStateException("bpf4j inspect failed");
                }
            });
        } finally {
            Files.delete(file);
        }
    }

    private void oneName(int count) throws IOException {
        ElfFile module = ElfFile.parse("module.ko", SyntheticElf.moduleOfOneName(count));
        Btf kernel = SyntheticElf.oneName(count);
        measure("readModuleOfOneName", count, () -> BtfFile.ofModule(module, kernel));
    }

    private static Btf parse(byte[] types) {
        return Btf.parse(ByteView.of("kernel", types, ByteOrder.LITTLE_ENDIAN));
    }

    private static void check(Fit fit, int relocations) {
        if (!fit.fits() || fit.programs().getFirst().relocations().size() != relocations) {
            throw new IllegalStateException("does not fit: " + fit.findings());
        }
    }

    private void measure(String work, int size, Work measured) throws IOException {
        double[] times = new double[shots];
        for (int shot = shots == 1 ? 0 : -WARM_UP; shot < shots; shot++) {
            long start = System.nanoTime();
            measured.run();
            if (shot >= 0) {
                times[shot] = (System.nanoTime() - start) / 1e6;
            }
        }
        Yardstick.print(work, Integer.toString(size), "ms", times);
    }
}
