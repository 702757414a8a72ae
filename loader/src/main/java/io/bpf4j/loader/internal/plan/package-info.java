/**
 * Computes the steps of a load before the first system call of the load: {@code LoadPlan.of(spec, options, kernel)}.
 *
 * <p>{@code Planner} has the steps in order. {@code ObjectBtf} makes the object's types loadable; {@code MapPlan} gives
 * maps their size and flags, {@code MapContents} and {@code KconfigValues} their initial bytes; {@code StructOpsImages}
 * and {@code KernelSymbols} resolve kernel types and externs in the {@code TargetKernel}; {@code ProgramAssembly} joins
 * functions and relocates them. A failed step is a {@code LoadPlan.Problem}.
 *
 * <p>Nothing here holds a file descriptor or makes a system call, except the probes of {@code Features}.
 */
package io.bpf4j.loader.internal.plan;
