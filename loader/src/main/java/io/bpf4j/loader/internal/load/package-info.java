/**
 * From a spec to the kernel: BTF, maps, relocation, programs, as one transaction.
 *
 * <p>Lowest first: {@code ObjectBtf} makes the object's BTF loadable, {@code MapCreation} its maps, {@code KconfigValues}
 * and {@code KernelSymbols} find what the object left open, {@code ProgramAssembly} joins functions and puts descriptors into their
 * instructions, {@code ProgramLoading} hands the result to the verifier, {@code ObjectLoading} does all in order and
 * undoes it on failure.
 */
package io.bpf4j.loader.internal.load;
