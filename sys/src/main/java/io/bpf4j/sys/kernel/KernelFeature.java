package io.bpf4j.sys.kernel;

import io.bpf4j.insn.Helper;

/**
 * Part of a kernel that another kernel may lack: a {@link Feature}, a type of programs or maps, an attach type, or a
 * helper for programs of a type. {@code Features} tells whether the running kernel has it. <i>Immutable.</i>
 */
public sealed interface KernelFeature permits Feature, ProgramType, MapType, AttachType, KernelFeature.Call {
    /** Calls of a helper by programs of a type: {@code new Call(ProgramType.XDP, Helper.named("bpf_fib_lookup"))}. */
    record Call(ProgramType from, Helper helper) implements KernelFeature {}
}
