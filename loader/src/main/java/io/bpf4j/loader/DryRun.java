package io.bpf4j.loader;

import io.bpf4j.btf.Btf;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.core.MinimalBtf;
import io.bpf4j.loader.dryrun.Fit;
import io.bpf4j.loader.internal.dryrun.DryRunJudgement;
import io.bpf4j.loader.internal.types.KernelBtf;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.linux.Kallsyms;
import java.util.List;

/**
 * Relocates an object against the BTF of any kernel, and reports what that kernel lacks. The kernel need not be
 * running.
 *
 * {@snippet :
 * ObjectSpec object = ObjectSpec.read(Path.of("tool.bpf.o"));
 * BtfFile.forEach(Path.of("btfhub-archive/ubuntu"), (name, btf) -> {
 *     Fit fit = DryRun.of(object, btf);
 *     System.out.println(name + (fit.fits() ? " fits" : " does not fit"));
 * });
 * }
 *
 * <p>The dry run checks what a kernel's BTF contains: types and their members; enumerators, which show the helpers, map
 * types, program types and attach types; functions that are called, traced or replaced, in modules if their BTF is
 * given. It also checks for map definitions that every kernel refuses, such as a map without entries. A missing item
 * counts only if the program can reach it. Code that is unreachable because of {@code bpf_core_field_exists} and
 * similar checks, or of constants in {@code .rodata}, does not count.
 *
 * <p>To check exactly what a load would load, pass {@link BpfLoader#spec()}: with the values of global variables, other
 * targets, and without the maps that are left out.
 *
 * <p>The dry run does not check whether the verifier accepts a program, which differs between kernels; nor kconfig
 * options; nor symbols without type, except against the running kernel ({@link #ofKernel}); nor kprobes, tracepoints
 * and other targets that are named when a program is attached. So "does not fit" is certain, and "fits" is probable.
 */
public final class DryRun {
    private DryRun() {}

    /**
     * Compares an object with a kernel.
     *
     * @param modules of the kernel, each on top of {@code kernel}; they are searched if the kernel itself lacks a type
     */
    public static Fit of(ObjectSpec object, Btf kernel, Btf... modules) {
        return DryRunJudgement.of(object, CoreTarget.of(kernel, () -> List.of(modules)));
    }

    /**
     * Compares an object with the kernel of a machine and its loaded modules, without changing the machine. Symbols
     * without type are looked up in {@code /proc/kallsyms}. It needs no capability.
     *
     * @throws io.bpf4j.loader.error.RelocationException if the kernel has no BTF
     */
    public static Fit ofKernel(ObjectSpec object, Host host) {
        return DryRunJudgement.of(object, KernelBtf.of(host).target(), Kallsyms.of(host));
    }

    /**
     * The part of a kernel's types that objects need for their CO-RE relocations, for a kernel that exports none: the
     * objects relocate against it as they do against the whole ({@link BpfLoader#targetBtf}). Types of modules, of
     * kernel functions, and of functions that programs are attached to are not in it.
     *
     * <pre>{@code
     * Files.write(Path.of("5.4.0-91-generic.btf"), DryRun.neededTypes(kernel, object).raw());
     * }</pre>
     *
     * @return BTF with ids of its own, in the byte order of the kernel's
     * @throws io.bpf4j.core.CoreException if a relocation is invalid, or ambiguous for this kernel; or if a type that is
     *     needed has more than 65,535 members, values or parameters
     */
    public static Btf neededTypes(Btf kernel, ObjectSpec... objects) {
        MinimalBtf needed = new MinimalBtf(kernel);
        for (ObjectSpec object : objects) {
            object.btfExt()
                    .ifPresent(ext -> needed.add(
                            object.btf().orElseThrow(),
                            ext.relocations().sections().stream()
                                    .flatMap(section -> section.records().stream())
                                    .toList()));
        }
        return needed.build();
    }
}
