package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.CGROUP2;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.OVERLAY;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.Diagnostic;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.ControlGroup;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Mount;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.EventStream;
import io.bpf4j.trace.Question;
import io.bpf4j.trace.Target;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Questions about the processes of control groups: those of now, and those that come. */
@Requires({BPF, GCC, SDT_H, ASSEMBLER, CGROUP2})
@ExtendWith(LeakCheck.class)
@Timeout(1800) // for what hangs
class GroupsOnKernelTest {
    private static final String PROBE = "target:sizes";

    @TempDir
    Path folder;

    /** A program of this test alone: other tests run the same file. */
    private Path program() throws IOException {
        return Files.copy(TargetProgram.compile("-O2"), folder.resolve("target"));
    }

    private static long count(Answer answer) {
        return answer.rows().stream().mapToLong(Answer.Row::count).sum();
    }

    @Test
    void eventsOfOtherGroupsAreNotCounted() throws Exception {
        Path program = program();
        try (ControlGroup group = ControlGroup.create("asked");
                ControlGroup below = group.below("inner");
                ControlGroup other = ControlGroup.create("other");
                TargetProgram inGroup = TargetProgram.startCopy(program);
                TargetProgram inInner = TargetProgram.startCopy(program);
                TargetProgram inOther = TargetProgram.startCopy(program);
                TargetProgram inNone = TargetProgram.startCopy(program)) {
            group.add(inGroup.pid());
            below.add(inInner.pid());
            other.add(inOther.pid());
            try (Answer answer = Question.on(Target.controlGroup(group.path()), PROBE)
                    .by("pid")
                    .open()) {
                inGroup.command("sizes 3");
                inInner.command("sizes 5");
                inOther.command("sizes 7");
                inNone.command("sizes 11");
                assertThat(answer.rows())
                        .extracting(row -> row.key() + "=" + row.count())
                        .containsExactlyInAnyOrder("{pid=" + inGroup.pid() + "}=3", "{pid=" + inInner.pid() + "}=5");
                assertThat(answer.reasonsForGaps()).isEmpty();
                assertThat(answer.isExact()).isTrue();
                assertThat(answer.isAlive()).isTrue();
                // A process that changes the group changes whether it is counted.
                other.add(inGroup.pid());
                inGroup.command("sizes 100");
                assertThat(count(answer)).isEqualTo(8);
            }
        }
    }

    /** A container may make groups of its own, which belong to it. */
    @Test
    void theContainerAndPodOfAnEventAreKeys() throws Exception {
        Path program = program();
        String id = "0123456789abcdef".repeat(4);
        String uid = "1a2b3c4d-0001-4aaa-8bbb-0123456789ab";
        try (ControlGroup pods = ControlGroup.create("kubepods");
                ControlGroup pod = pods.below("pod" + uid);
                ControlGroup container = pod.below(id);
                ControlGroup inner = container.below("inner");
                TargetProgram inContainer = TargetProgram.startCopy(program);
                TargetProgram inInner = TargetProgram.startCopy(program);
                TargetProgram inNone = TargetProgram.startCopy(program)) {
            container.add(inContainer.pid());
            inner.add(inInner.pid());
            try (Answer answer = Question.on(UsdtScan.ofFile(program).matching(PROBE))
                    .by("container", "pod")
                    .open()) {
                inNone.command("sizes 11");
                Object outer = answer.rows().getFirst().key().getOrDefault("container", "");
                inContainer.command("sizes 3");
                inInner.command("sizes 5");
                if (!outer.equals("")) {
                    // The tests run in a container, to which all groups that are made there belong.
                    assertThat(answer.rows()).singleElement().satisfies(row -> {
                        assertThat(row.key()).containsEntry("container", outer);
                        assertThat(row.count()).isEqualTo(19);
                    });
                    return;
                }
                assertThat(answer.rows())
                        .extracting(row -> row.key() + "=" + row.count())
                        .containsExactlyInAnyOrder(
                                "{container=" + id + ", pod=" + uid + "}=8", "{container=, pod=}=11");
                // A container that starts later.
                ControlGroup later = pod.below("f" + id.substring(1));
                try (later) {
                    later.add(inNone.pid());
                    inNone.command("sizes 2");
                    assertThat(answer.rows())
                            .extracting(row -> row.key().get("container") + "=" + row.count())
                            .contains("f" + id.substring(1) + "=2");
                    pods.add(inNone.pid());
                }
                assertThat(answer.hints()).noneMatch(hint -> hint.kind() == Diagnostic.Kind.UNNAMED);
                // One that comes and goes between two looks.
                try (ControlGroup brief = pod.below("e" + id.substring(1))) {
                    brief.add(inNone.pid());
                    inNone.command("sizes 7");
                    pods.add(inNone.pid());
                }
                assertThat(answer.rows()).anySatisfy(row -> {
                    assertThat(row.count()).isEqualTo(7);
                    assertThat(String.valueOf(row.key().get("pod"))).startsWith("cgroup:");
                });
                assertThat(answer.hints())
                        .anySatisfy(hint -> assertThat(hint.message()).contains("a control group has no name here"));
            }
        }
    }

    /** Root of a container may make groups in it, with any name. */
    @Test
    void aContainerIsNotTakenForAnother() throws Exception {
        Path program = program();
        String id = "0123456789abcdef".repeat(4);
        try (ControlGroup runtime = ControlGroup.create("docker");
                ControlGroup asked = runtime.below("docker-" + id + ".scope");
                ControlGroup other = runtime.below("docker-f" + id.substring(1) + ".scope");
                ControlGroup forged = other.below("docker-" + id + ".scope");
                ControlGroup below = other.below("system.slice");
                ControlGroup forgedBelow = below.below("docker-" + id + ".scope");
                TargetProgram inAsked = TargetProgram.startCopy(program);
                TargetProgram inForged = TargetProgram.startCopy(program);
                TargetProgram inForgedBelow = TargetProgram.startCopy(program)) {
            asked.add(inAsked.pid());
            forged.add(inForged.pid());
            forgedBelow.add(inForgedBelow.pid());
            try (Answer answer =
                    Question.on(Target.container(id), PROBE).by("pid").open()) {
                inForged.command("sizes 5");
                inForgedBelow.command("sizes 7");
                inAsked.command("sizes 3");
                // The tests may run in a container, to which all groups that are made there belong.
                boolean inContainer = runtime.path().matches(".*[0-9a-f]{64}.*");
                assertThat(answer.rows())
                        .extracting(row -> row.key() + "=" + row.count())
                        .isEqualTo(inContainer ? List.of() : List.of("{pid=" + inAsked.pid() + "}=3"));
            }
        }
    }

    /** The kernel refuses to list the processes of a threaded group. */
    @Test
    void aThreadedGroupIsNoReasonForAGap() throws Exception {
        Path program = program();
        try (ControlGroup group = ControlGroup.create("asked");
                ControlGroup threads = group.below("threads");
                TargetProgram target = TargetProgram.startCopy(program)) {
            threads.makeThreaded();
            group.add(target.pid());
            try (Answer answer =
                    Question.on(Target.controlGroup(group.path()), PROBE).open()) {
                target.command("sizes 4");
                assertThat(count(answer)).isEqualTo(4);
                assertThat(answer.reasonsForGaps()).isEmpty();
            }
        }
    }

    /** No look is needed: the file and the group are known. */
    @Test
    void aProcessThatStartsInAKnownGroupIsCountedFromItsFirstInstruction() throws Exception {
        Path program = program();
        try (ControlGroup group = ControlGroup.create("asked");
                TargetProgram first = TargetProgram.startCopy(program)) {
            group.add(first.pid());
            try (Answer answer =
                    Question.on(Target.controlGroup(group.path()), PROBE).open()) {
                for (int i = 0; i < 20; i++) {
                    Commands.check(
                            List.of("sh", "-c", group.enter() + "; echo 'sizes 2' | " + program + " >/dev/null"));
                }
                assertThat(count(answer)).isEqualTo(40);
            }
        }
    }

    @Test
    void aProcessWithAFileThatWasNotKnownIsFoundAndTheAnswerSaysThatItIsLate() throws Exception {
        Path program = program();
        try (ControlGroup group = ControlGroup.create("asked");
                Answer answer =
                        Question.on(Target.controlGroup(group.path()), PROBE).open();
                TargetProgram target = TargetProgram.startCopy(program)) {
            assertThat(answer.isExact()).isFalse(); // no file has the probe so far
            group.add(target.pid());
            Await.until("an event that is counted", () -> {
                target.command("sizes");
                return count(answer) > 0;
            });
            assertThat(answer.reasonsForGaps()).extracting(Diagnostic::kind).contains(Diagnostic.Kind.LATE);
            long before = count(answer);
            target.command("sizes 10");
            assertThat(count(answer)).isEqualTo(before + 10);
        }
    }

    @Test
    void aGroupThatIsMadeLaterIsFound() throws Exception {
        Path program = program();
        try (ControlGroup parent = ControlGroup.create("parent");
                Answer answer = Question.on(Target.controlGroup(parent.path() + "/later*"), PROBE)
                        .open();
                ControlGroup later = parent.below("later1");
                ControlGroup other = parent.below("other");
                TargetProgram target = TargetProgram.startCopy(program);
                TargetProgram stranger = TargetProgram.startCopy(program)) {
            later.add(target.pid());
            other.add(stranger.pid());
            Await.until("an event that is counted", () -> {
                target.command("sizes");
                stranger.command("sizes");
                return count(answer) > 0;
            });
            long before = count(answer);
            stranger.command("sizes 1000");
            assertThat(count(answer)).isEqualTo(before);
            assertThat(answer.reasonsForGaps())
                    .extracting(Diagnostic::message)
                    .anyMatch(message -> message.contains(later.path() + " was found after it was made"));
        }
    }

    /** Whoever may make groups can make more than the kernel's map has room for. */
    @Test
    void groupsThatAreTooManyAreSaidAndTheOthersStay() throws Exception {
        Path program = program();
        List<ControlGroup> many = new ArrayList<>();
        try (ControlGroup parent = ControlGroup.create("parent");
                ControlGroup first = parent.below("g");
                TargetProgram target = TargetProgram.startCopy(program)) {
            first.add(target.pid());
            try {
                for (int i = 1; i < 4096; i++) {
                    many.add(parent.below("g" + i));
                }
                try (Answer answer = Question.on(Target.controlGroup(parent.path() + "/g*"), PROBE)
                        .open()) {
                    // The first look knows as many as there is room for.
                    many.add(parent.below("g0"));
                    Await.until(
                            "the reason",
                            () -> answer.reasonsForGaps().stream()
                                    .anyMatch(gap -> gap.message().contains("more than 4096 control groups")));
                    target.command("sizes 3");
                    assertThat(count(answer)).isEqualTo(3);
                    assertThat(answer.reasonsForGaps())
                            .noneMatch(gap -> gap.message().contains("the search for processes of"));
                }
            } finally {
                many.forEach(ControlGroup::close);
            }
        }
    }

    /** Nobody has seen its files, but the kernel has seen that it was executed. */
    @Test
    void aProgramThatIsGoneBeforeALookIsSaid() throws Exception {
        Path program = program();
        try (ControlGroup group = ControlGroup.create("asked");
                Answer answer =
                        Question.on(Target.controlGroup(group.path()), PROBE).open()) {
            Await.until("a program that was not seen", () -> {
                Commands.check(List.of("sh", "-c", group.enter() + "; echo 'sizes 2' | " + program + " >/dev/null"));
                return answer.reasonsForGaps().stream()
                        .anyMatch(gap -> gap.message().contains("ended before their files were read"));
            });
        }
    }

    @Test
    @Requires(OVERLAY)
    void twoContainersOfOneImageAreCountedOnce() throws Exception {
        Path image = Files.createDirectory(folder.resolve("image"));
        Files.createDirectory(folder.resolve("empty"));
        Files.copy(TargetProgram.compile("-O2"), image.resolve("target"));
        String lower = "lowerdir=" + image + ":" + folder.resolve("empty");
        try (ControlGroup pod = ControlGroup.create("pod");
                ControlGroup first = pod.below("first");
                ControlGroup second = pod.below("second");
                Mount one = Mount.of("overlay", lower, folder.resolve("one"));
                Mount two = Mount.of("overlay", lower, folder.resolve("two"));
                TargetProgram inOne = TargetProgram.startCopy(one.directory().resolve("target"));
                TargetProgram inTwo = TargetProgram.startCopy(two.directory().resolve("target"))) {
            first.add(inOne.pid());
            try (Answer answer = Question.on(Target.controlGroup(pod.path()), PROBE)
                    .by("pid")
                    .open()) {
                inOne.command("sizes 3");
                second.add(inTwo.pid()); // its file is found by a later look
                inTwo.command("sizes 4");
                Await.until("a look", () -> looksAgain(pod, answer));
                inOne.command("sizes 10");
                inTwo.command("sizes 10");
                assertThat(answer.rows())
                        .extracting(row -> row.key() + "=" + row.count())
                        .containsExactlyInAnyOrder("{pid=" + inOne.pid() + "}=13", "{pid=" + inTwo.pid() + "}=14");
            }
        }
    }

    /** A program whose exec was not seen shows that a look has ended. */
    private static boolean looksAgain(ControlGroup group, Answer answer) throws IOException, InterruptedException {
        Commands.check(List.of("sh", "-c", group.enter() + "; /bin/true; /bin/true; /bin/true"));
        return answer.reasonsForGaps().stream()
                .anyMatch(gap -> gap.message().contains("ended before their files were read"));
    }

    @Test
    void aStreamOfEventsHasThoseOfTheGroup() throws Exception {
        Path program = program();
        try (ControlGroup group = ControlGroup.create("asked");
                TargetProgram inGroup = TargetProgram.startCopy(program);
                TargetProgram outside = TargetProgram.startCopy(program)) {
            group.add(inGroup.pid());
            try (EventStream events =
                    Question.on(Target.controlGroup(group.path()), PROBE).openEvents()) {
                outside.command("sizes 3");
                inGroup.command("sizes 2");
                AtomicInteger received = new AtomicInteger();
                Await.until("two events", () -> {
                    events.poll(Duration.ofMillis(10), (event, _) -> {
                        assertThat(event.pid()).isEqualTo(inGroup.pid());
                        received.incrementAndGet();
                    });
                    return received.get() == 2;
                });
            }
        }
    }

    @Test
    void theCommandCountsAGroup() throws Exception {
        Path program = program();
        try (ControlGroup group = ControlGroup.create("asked");
                TargetProgram inGroup = TargetProgram.startCopy(program);
                TargetProgram outside = TargetProgram.startCopy(program)) {
            group.add(inGroup.pid());
            Commands.Result result;
            try (RunningTrace counting =
                    new RunningTrace("count", "--json", "-p", "cgroup=" + group.path(), PROBE, "--by", "pid")) {
                counting.awaitMessage("tracing 1 probe");
                outside.command("sizes 3");
                inGroup.command("sizes 2");
                counting.interrupt();
                result = counting.await();
            }
            assertThat(result.exitCode()).as(result.err()).isZero();
            List<Map<String, @Nullable Object>> lines = Json.lines(result.out());
            assertThat(lines.getFirst()).containsEntry("count", 2L);
            assertThat(lines.getLast()).containsEntry("events", 2L).containsEntry("exact", true);
        }
    }

    @Test
    void aGroupThatIsNotThereIsSaid() throws Exception {
        Commands.Result result = Cli.run("count", "-p", "unit=no-such-unit", PROBE, "--duration", "0.1");
        assertThat(result.err())
                .contains("no process is in the control groups of unit=no-such-unit so far: waiting for one");
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(Cli.run("count", "-p", "unit=a/b", PROBE).err()).contains("'a/b' is not a unit of systemd");
        assertThat(Cli.run("count", "-p", "name=web", PROBE).err())
                .contains("'name' selects no processes; unit, container, pod and cgroup do");
        assertThat(Cli.run("count", "-p", "4x", PROBE).err()).contains("-p takes the number of a process");
        assertThat(Cli.run("trace", "-p", "unit=a", "--follow", PROBE).err()).contains("--follow is for -p PID and -c");
        assertThat(Cli.run("trace", "-p", "unit=a", "--lossless", PROBE).err()).contains("needs -p or -c");
    }
}
