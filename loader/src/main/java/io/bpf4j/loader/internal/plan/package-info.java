/**
 * What a load does, worked out before the kernel is asked for anything: {@code LoadPlan.of(spec, options, kernel)}.
 *
 * <p>{@code Planner} has the steps in order. {@code ObjectBtf} makes the object's types loadable; {@code MapPlan} gives maps
 * the size and the flags that the kernel takes, {@code MapContents} and {@code KconfigValues} their first bytes; {@code
 * StructOpsImages} and {@code KernelSymbols} find in the {@code TargetKernel} what the object left open; {@code
 * ProgramAssembly} joins functions and relocates them. What is in the way is a {@code LoadPlan.Problem}.
 *
 * <p>Nothing here has a descriptor or makes a system call, but for the probes of {@code Features}.
 */
package io.bpf4j.loader.internal.plan;
