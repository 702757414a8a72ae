package io.bpf4j.test.project;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeModel;
import java.lang.classfile.Instruction;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.InvokeInstruction;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A test waits for a state and not for a time, and looks at the result of what it starts and ends. Read from the
 * compiled tests of all modules, where a result that nobody looks at is an instruction {@code pop}.
 */
class WaitingRulesTest {
    private static final Set<String> SLEEPS = Set.of(
            "java/lang/Thread.sleep",
            "java/util/concurrent/TimeUnit.sleep",
            "java/util/concurrent/locks/LockSupport.park",
            "java/util/concurrent/locks/LockSupport.parkNanos",
            "java/util/concurrent/locks/LockSupport.parkUntil");

    /** They return how it went, and not by an exception. */
    private static final Set<String> WITH_RESULT = Set.of(
            "io/bpf4j/test/support/Commands.run",
            "io/bpf4j/test/support/Cli.run",
            "java/lang/Process.waitFor",
            "java/util/concurrent/CountDownLatch.await",
            "java/util/concurrent/ExecutorService.awaitTermination",
            "java/util/concurrent/Semaphore.tryAcquire",
            "java/io/File.delete");

    private static final Set<String> KILLS = Set.of(
            "java/lang/Process.destroy",
            "java/lang/Process.destroyForcibly",
            "java/lang/ProcessHandle.destroy",
            "java/lang/ProcessHandle.destroyForcibly");

    /** The rules on waiting in CONTRIBUTING.md. */
    private enum Rule {
        SLEEPS_IN_A_WAITING_METHOD {
            @Override
            boolean isBroken(Call call) {
                return SLEEPS.contains(call.target()) && !call.isInWaitingMethod();
            }
        },
        RESULT_IS_LOOKED_AT {
            @Override
            boolean isBroken(Call call) {
                return WITH_RESULT.contains(call.target()) && call.isResultIgnored() && call.returnsBeforeAnEnd();
            }
        },
        KILLED_PROCESS_IS_AWAITED {
            @Override
            boolean isBroken(Call call) {
                return KILLS.contains(call.target())
                        && !call.inClass().equals("io/bpf4j/test/support/Processes")
                        && !call.next().equals("java/lang/Process.waitFor");
            }
        };

        abstract boolean isBroken(Call call);
    }

    /**
     * A call in the code of a test.
     *
     * @param target class and method
     * @param next the call that follows at once, or the opcode
     */
    private record Call(String inClass, String inMethod, String target, String descriptor, String next) {
        /** {@code Await} is for the integration tests, which the unit tests don't see. */
        boolean isInWaitingMethod() {
            return inClass.equals("io/bpf4j/test/support/Await")
                    || inClass.equals("io/bpf4j/test/again/Hogs")
                    || (inMethod.matches("(lambda\\$)?await.*") && !inClass.startsWith("io/bpf4j/test/"));
        }

        boolean isResultIgnored() {
            return next.equals(Opcode.POP.name());
        }

        /** {@code waitFor()} and {@code await()} return at the end only. */
        boolean returnsBeforeAnEnd() {
            return !descriptor.startsWith("()") || target.endsWith(".delete");
        }

        @Override
        public String toString() {
            return inClass + "." + inMethod + " calls " + target;
        }
    }

    @Test
    void eachTestKeepsTheRules() throws IOException {
        List<String> broken = new ArrayList<>();
        int calls = 0;
        for (Path file : compiledTests()) {
            for (Call call : calls(ClassFile.of().parse(file))) {
                calls++;
                for (Rule rule : Rule.values()) {
                    if (rule.isBroken(call) && !call.inClass().endsWith("$Breaking")) {
                        broken.add(rule + ": " + call);
                    }
                }
            }
        }
        assertThat(calls).isGreaterThan(50_000);
        assertThat(broken).isEmpty();
    }

    /** What the rules forbid. */
    @SuppressWarnings({"CheckReturnValue", "ThreadSleep", "unused"})
    private static final class Breaking {
        void pausesForATime() throws InterruptedException {
            Thread.sleep(1);
        }

        void ignoresAnExitCode() throws IOException, InterruptedException {
            Commands.run(List.of("true"));
        }

        void ignoresThatItStillRuns(Process process) throws InterruptedException {
            process.waitFor(1, TimeUnit.SECONDS);
        }

        void leavesAProcessThatIsBeingKilled(Process process) {
            process.destroyForcibly();
        }
    }

    @Test
    void theRulesFindWhatTheyForbid() throws IOException {
        Path file = TargetProgram.testModule()
                .resolve("target/test-classes")
                .resolve(Breaking.class.getName().replace('.', '/') + ".class");
        List<String> broken = new ArrayList<>();
        for (Call call : calls(ClassFile.of().parse(file))) {
            for (Rule rule : Rule.values()) {
                if (rule.isBroken(call)) {
                    broken.add(call.inMethod() + " " + rule);
                }
            }
        }
        assertThat(broken)
                .containsExactlyInAnyOrder(
                        "pausesForATime SLEEPS_IN_A_WAITING_METHOD",
                        "ignoresAnExitCode RESULT_IS_LOOKED_AT",
                        "ignoresThatItStillRuns RESULT_IS_LOOKED_AT",
                        "leavesAProcessThatIsBeingKilled KILLED_PROCESS_IS_AWAITED");
    }

    private static List<Call> calls(ClassModel type) {
        List<Call> calls = new ArrayList<>();
        for (MethodModel method : type.methods()) {
            List<Instruction> code =
                    method.code().map(WaitingRulesTest::instructions).orElse(List.of());
            for (int i = 0; i < code.size(); i++) {
                if (code.get(i) instanceof InvokeInstruction call) {
                    calls.add(new Call(
                            type.thisClass().asInternalName(),
                            method.methodName().stringValue(),
                            name(call),
                            call.type().stringValue(),
                            i + 1 < code.size() ? next(code.get(i + 1)) : ""));
                }
            }
        }
        return calls;
    }

    private static List<Instruction> instructions(CodeModel code) {
        return code.elementStream()
                .filter(Instruction.class::isInstance)
                .map(Instruction.class::cast)
                .toList();
    }

    private static String name(InvokeInstruction call) {
        return call.owner().asInternalName() + "." + call.name().stringValue();
    }

    private static String next(Instruction instruction) {
        return instruction instanceof InvokeInstruction call
                ? name(call)
                : instruction.opcode().name();
    }

    private static List<Path> compiledTests() throws IOException {
        Path checkout = TargetProgram.testModule().resolve("..").normalize();
        List<Path> folders = new ArrayList<>(List.of(checkout.resolve("test/objects/target/test-classes")));
        try (Stream<Path> modules = Files.list(checkout)) {
            modules.map(module -> module.resolve("target/test-classes")).forEach(folders::add);
        }
        List<Path> classes = new ArrayList<>();
        for (Path folder : folders) {
            if (Files.isDirectory(folder)) {
                try (Stream<Path> files = Files.walk(folder)) {
                    files.filter(f -> f.toString().endsWith(".class")).forEach(classes::add);
                }
            }
        }
        return classes;
    }
}
