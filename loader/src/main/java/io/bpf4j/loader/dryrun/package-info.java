/**
 * The results of {@link io.bpf4j.loader.DryRun}: whether an object fits a kernel, judged by the kernel's types.
 *
 * {@snippet lang = "java":
 * ObjectSpec tool = ObjectSpec.read(Path.of("tool.bpf.o"));
 * Fit fit = DryRun.of(tool, BtfFile.read(Path.of("5.10.0-8-amd64.btf.tar.xz")));
 * System.out.println(fit.source() + (fit.fits() ? " fits " : " does not fit ") + fit.kernel());
 * fit.findings().forEach(System.out::println); // of the object as a whole
 * for (Fit.Program program : fit.programs()) {
 *     program.findings().forEach(finding -> System.out.println(program.program() + ": " + finding));
 * }
 * }
 */
@NullMarked
package io.bpf4j.loader.dryrun;

import org.jspecify.annotations.NullMarked;
