package io.bpf4j.loader.internal.load;

import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.dryrun.Fit.Finding;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.error.VerifierException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.internal.plan.AssembledProgram;
import io.bpf4j.loader.internal.plan.FunctionRecords;
import io.bpf4j.loader.internal.plan.ProgramPlan;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.FailureHints;
import io.bpf4j.sys.internal.call.LoadResult;
import io.bpf4j.sys.internal.call.ProcessRights;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.linux.Jit;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.ProgramType;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Explains why the kernel did not accept a program: the source line, the reason, and what to do.
 *
 * <p>A program can be rejected for its attributes, before verification: then there is no log, only an error number. Or
 * it is rejected by the verifier, whose log ends in a verdict. The verifier numbers instructions in the whole program,
 * and so does this class:
 *
 * <pre>
 *   ; return size_of_missing_type(); @ prog.bpf.c:127      the source line, since Linux 6.9 with file and line number
 *   0: (85) call pc+2
 *   ...
 *   4: (85) call unknown#195896080                         instruction 4: its function, file and line are looked up
 *   invalid func unknown#195896080                         the verdict
 *   processed 5 insns (limit 1000000) ...                  statistics
 * </pre>
 *
 * <i>Immutable.</i>
 *
 * @param btfRefusal why the kernel did not accept the object's BTF; null if it did, or if the object has none
 */
record ProgramRefusal(
        Host host,
        ObjectSpec spec,
        Features features,
        @Nullable String btfRefusal) {
    private static final Pattern INSTRUCTION = Pattern.compile("^(\\d{1,7}): \\([0-9a-f]{2}\\) .*");
    /** {@code back-edge from insn 5 to 2}: verdicts about the control flow come without instructions in the log. */
    private static final Pattern NUMBERED = Pattern.compile(".*\\binsn (\\d{1,7})\\b.*");
    /** Lines between the verdict and its instruction: states of registers that the verifier compares. */
    private static final int VERDICT_LINES = 5;

    BpfException explain(
            ProgramPlan program,
            Optional<AttachType> attachType,
            ProgCommand.Load command,
            LoadResult.Refused refused) {
        AssembledProgram code = program.code().orElseThrow();
        Errno errno = Errno.of(refused.errno());
        // In the command the name is truncated to the kernel's 15 characters.
        ProgCommand.Load named = ProgCommand.Load.of(command.type(), program.name(), new byte[0], spec.license());
        if (refused.log().isBlank()) {
            Optional<UnsupportedFeatureException> missing =
                    MissingFeature.of(program.spec(), attachType, refused.errno(), features);
            if (missing.isPresent()) {
                return missing.get();
            }
            if (FailureHints.isAboutProcess(errno) && !lacksTrampoline(errno, command, Jit.of(host))) {
                return FailureHints.explained(named, refused.errno(), ProcessRights.of(host));
            }
        }
        List<String> advice = new ArrayList<>();
        if (lacksTrampoline(errno, command, Jit.of(host))) {
            advice.add("this kernel has no BPF JIT compiler (it is built without CONFIG_BPF_JIT), which generates the"
                    + " code that calls programs from kernel functions");
        } else {
            advice.add(
                    refused.log().isBlank()
                            ? withoutLog(errno, attachType, command)
                            : verdict(program, refused.log(), errno));
        }
        if (errno == Errno.EACCES || errno == Errno.EPERM) {
            advice.add(Objects.requireNonNullElse(FailureHints.missingRights(named, ProcessRights.of(host)), ""));
        }
        if (btfRefusal != null) {
            advice.add("the kernel did not accept the object's BTF, which this program may need: " + btfRefusal);
        }
        String all = advice.stream().filter(Predicate.not(String::isEmpty)).collect(Collectors.joining("; "));
        // If an embedder replaced instructions, the numbers in the log are not those of the object.
        boolean asAssembled =
                command.instructions().length == code.instructions().size() * Instruction.SIZE;
        return new VerifierException(
                program.name(), refused.errno(), refused.log(), all, asAssembled ? place(program, refused.log()) : "");
    }

    private String place(ProgramPlan program, String log) {
        OptionalInt slot = lastInstruction(log);
        return slot.isEmpty()
                ? ""
                : new FunctionRecords(spec)
                        .at(FunctionRecords.bySlot(program.slots()), slot.getAsInt())
                        .map(Finding.Location::toString)
                        .orElse("");
    }

    /** The instruction of the verdict, from the end of the log; empty if the log is truncated. */
    static OptionalInt lastInstruction(String log) {
        int end = log.length();
        int verdict = 0;
        while (end > 0) {
            int start = log.lastIndexOf('\n', end - 1) + 1;
            String line = log.substring(start, end);
            if (line.startsWith(LoggedLoad.TRUNCATED)) {
                return OptionalInt.empty();
            }
            Matcher instruction = INSTRUCTION.matcher(line);
            if (instruction.matches()) {
                return OptionalInt.of(Integer.parseInt(instruction.group(1)));
            }
            Matcher numbered = NUMBERED.matcher(line);
            if (verdict < VERDICT_LINES && numbered.matches()) {
                return OptionalInt.of(Integer.parseInt(numbered.group(1)));
            }
            if (!line.isBlank()) {
                verdict++;
            }
            end = start - 1;
        }
        return OptionalInt.empty();
    }

    private String verdict(ProgramPlan program, String log, Errno errno) {
        AssembledProgram code = program.code().orElseThrow();
        String poisoned = poisoned(code, log);
        if (!poisoned.isEmpty()) {
            return poisoned;
        }
        String absent = absent(code, log);
        if (!absent.isEmpty()) {
            return absent;
        }
        if (errno == Errno.ENOTSUPP) {
            return unsupported(Jit.of(host));
        }
        return VerifierAdvice.of(log, program.spec().type().name()).orElse("");
    }

    /**
     * The verifier reports an unknown helper; this method finds the original instruction.
     *
     * <pre>
     * 8: (85) call unknown#195896080
     * invalid func unknown#195896080
     * </pre>
     */
    private static String poisoned(AssembledProgram program, String log) {
        List<AssembledProgram.Poisoned> poisoned = program.poisoned();
        if (poisoned.isEmpty() || !log.contains("invalid func unknown#")) {
            return "";
        }
        OptionalInt slot = lastInstruction(log);
        List<AssembledProgram.Poisoned> reached = poisoned.stream()
                .filter(p -> slot.isEmpty() || p.slot() == slot.getAsInt())
                .limit(3)
                .toList();
        if (reached.isEmpty()) {
            return "";
        }
        boolean leftOut = reached.stream().allMatch(p -> p.kind() == AssembledProgram.Poisoned.Kind.MAP);
        return (leftOut ? "it reaches " : "it reaches something that this kernel does not have: ")
                + reached.stream().map(AssembledProgram.Poisoned::reason).collect(Collectors.joining("; "));
    }

    /** The address of a weak symbol that is missing is 0, which the verifier treats as a scalar. */
    private static String absent(AssembledProgram program, String log) {
        if (!log.contains("invalid mem access 'scalar'") && !log.contains("invalid mem access 'inv'")) {
            return "";
        }
        String names = program.absent().stream()
                .filter(symbol -> log.contains("\n" + symbol.slot() + ": (18) "))
                .map(AssembledProgram.Absent::symbol)
                .distinct()
                .limit(3)
                .collect(Collectors.joining(", "));
        return names.isEmpty()
                ? ""
                : "it reads a symbol that this kernel does not have: the address of " + names
                        + " is 0; compare it with 0 first";
    }

    private String withoutLog(Errno errno, Optional<AttachType> attachType, ProgCommand.Load command) {
        int instructions = command.instructions().length / 8;
        return switch (errno) {
            case E2BIG ->
                instructions == 0
                        ? "it has no instructions"
                        : "it has " + instructions
                                + " instructions; a kernel accepts 1,000,000 from a process with CAP_BPF, but 4,096"
                                + " from others, and before Linux 5.2";
            case EINVAL ->
                "the kernel refused it before checking any instruction, so it does not support something that was"
                        + " requested: "
                        + requested(attachType, command);
            case EACCES ->
                "the kernel refused it before checking any instruction, so a policy is the reason (an LSM such as"
                        + " SELinux)";
            case ENOTSUPP -> unsupported(Jit.of(host));
            default -> "";
        };
    }

    /**
     * Without a JIT the kernel's bpf_trampoline_get gives NULL (include/linux/bpf.h), which its check_attach_btf_id
     * reports as ENOMEM.
     */
    static boolean lacksTrampoline(Errno errno, ProgCommand.Load command, Jit jit) {
        return errno == Errno.ENOMEM && command.attachment().btfId() != 0 && jit == Jit.MISSING;
    }

    /** Programs that can't be interpreted need the JIT compiler, and compiled programs need its memory. */
    static String unsupported(Jit jit) {
        String interpreted =
                ", and this program can't be interpreted: the interpreter does not support calls of kernel functions,"
                        + " some instructions and deep stacks";
        String refused = "the kernel's BPF JIT compiler refuses it; all programs of the machine share the memory that"
                + " sysctl net.core.bpf_jit_limit allows, and some instructions and functions need a JIT that"
                + " supports them";
        return switch (jit) {
            case MISSING -> "this kernel has no BPF JIT compiler (it is built without CONFIG_BPF_JIT)" + interpreted;
            case OFF -> "the kernel's BPF JIT compiler is off (sysctl net.core.bpf_jit_enable is 0)" + interpreted;
            case ON -> refused;
            case UNKNOWN -> refused + "; sysctl net.core.bpf_jit_enable switches it on";
        };
    }

    private static String requested(Optional<AttachType> attachType, ProgCommand.Load command) {
        List<String> requested = new ArrayList<>();
        requested.add("a program of type "
                + ProgramType.of(command.type()).map(Enum::name).orElse("number " + command.type()));
        if (command.attachment().type() != 0) {
            requested.add("for "
                    + attachType
                            .filter(type ->
                                    type.number() == command.attachment().type())
                            .map(type -> "attach type " + type)
                            .orElse("attach type or member "
                                    + command.attachment().type()));
        }
        if (command.attachment().btfId() != 0) {
            requested.add("to attach to BTF id " + command.attachment().btfId()
                    + (command.attachment().target() == null
                            ? ""
                            : " of " + command.attachment().target().description()));
        }
        if ((command.flags() & ProgramSpec.F_SLEEPABLE) != 0) {
            requested.add("sleepable");
        }
        if ((command.flags() & ProgramSpec.F_XDP_HAS_FRAGS) != 0) {
            requested.add("with XDP fragments");
        }
        if ((command.flags() & ~(ProgramSpec.F_SLEEPABLE | ProgramSpec.F_XDP_HAS_FRAGS)) != 0) {
            requested.add("flags 0x" + Integer.toHexString(command.flags()));
        }
        if (command.ifindex() != 0) {
            requested.add("for network device " + command.ifindex());
        }
        if (command.types().btf() != null) {
            requested.add("described by BTF");
        }
        return String.join(", ", requested);
    }
}
