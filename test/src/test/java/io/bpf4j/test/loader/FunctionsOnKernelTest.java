package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.READELF;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI;
import static io.bpf4j.test.support.Requirement.UPROBE_SESSION;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.loader.link.UprobeMulti;
import io.bpf4j.test.support.AnswerProgram;
import io.bpf4j.test.support.AnswerProgram.Symbols;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.LineProcess;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Functions by name, in whole and in stripped files: what is called fires, and nothing else. */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H, READELF, ASSEMBLER, X86_64})
@ExtendWith(LeakCheck.class)
@SuppressWarnings("try") // links are closed before the end of their block: nothing may fire after that
class FunctionsOnKernelTest {
    private static BpfObject links(LineProcess target) {
        return Bpf.load(
                "links.bpf.o",
                l -> Bpf.only(
                        l.program("on_multi", p -> p.withAutoload(false))
                                .program("on_multi_return", p -> p.withAutoload(false)),
                        target.pid()));
    }

    private static long hits(BpfObject object) {
        return Bpf.u64(object, "uprobe_hits");
    }

    @Test
    void aVersionIsAFunctionOfItsOwn() throws Exception {
        try (AnswerProgram program = AnswerProgram.start(Symbols.WHOLE);
                BpfObject object = links(program)) {
            Path library = program.library();
            try (Link link = object.program("on_uprobe").attach(Uprobe.entry(library, "answer"))) {
                program.command("old");
                assertThat(hits(object)).as("without a version: the default").isZero();
                program.command("new");
                assertThat(hits(object)).isEqualTo(1);
            }
            Bpf.awaitNotCounted(object, "uprobe_hits", () -> program.command("new"));
            long before = hits(object);
            try (Link link = object.program("on_uprobe").attach(Uprobe.entry(library, "answer@ANSWER_1"))) {
                program.command("new");
                assertThat(hits(object)).isEqualTo(before);
                program.command("old");
                assertThat(hits(object)).isEqualTo(before + 1);
                assertThat(Bpf.u64(object, "uprobe_arg")).isEqualTo(1);
            }
            try (Link link = object.program("on_uretprobe").attach(Uprobe.exit(library, "answer@@ANSWER_2"))) {
                program.command("new");
                assertThat(Bpf.u64(object, "uretprobe_value")).isEqualTo(42);
            }
            assertThatThrownBy(() -> object.program("on_uprobe").attach(Uprobe.entry(library, "answer@@ANSWER_1")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("answer@ANSWER_1")
                    .hasMessageContaining(library.toString());
        }
    }

    /** {@code step} is static: only the full table has it, wherever that is. */
    @ParameterizedTest
    @EnumSource(
            value = Symbols.class,
            names = {"WHOLE", "MINI", "LINKED"})
    void aStaticFunctionIsFoundWhereverItsSymbolIs(Symbols symbols) throws Exception {
        try (AnswerProgram program = AnswerProgram.start(symbols);
                BpfObject object = links(program);
                Link link = object.program("on_uprobe").attach(Uprobe.entry(program.library(), "step"))) {
            program.command("inner");
            assertThat(hits(object)).isEqualTo(1);
            link.close();
            Bpf.awaitNotCounted(object, "uprobe_hits", () -> program.command("inner"));
        }
    }

    /** As Debian's -dbgsym packages have it. */
    @Test
    void theDebugFileOfABuildIdIsFound() throws Exception {
        try (AnswerProgram program = AnswerProgram.start(Symbols.LINKED);
                BpfObject object = links(program)) {
            Path linked = program.library().resolveSibling("libanswer.debug");
            String id;
            try (ElfFile elf = ElfFile.open(program.library())) {
                id = elf.buildId().orElseThrow();
            }
            Path folder = Path.of("/usr/lib/debug/.build-id", id.substring(0, 2));
            boolean existed = Files.exists(folder);
            Path debug = folder.resolve(id.substring(2) + ".debug");
            moveToItsFolder(linked, debug);
            try (Link link = object.program("on_uprobe").attach(Uprobe.entry(program.library(), "step"))) {
                program.command("inner");
                assertThat(hits(object)).isEqualTo(1);
            } finally {
                Files.delete(debug);
                if (!existed) {
                    deleteUnlessUsed(folder);
                }
            }
        }
    }

    /** The folder is that of all files whose build ID begins so: a package or another test may add and remove it. */
    private static void moveToItsFolder(Path file, Path target) throws IOException, InterruptedException {
        Await.until("moved to " + target, () -> {
            Files.createDirectories(target.getParent());
            try {
                // In place of what a run that was killed has left.
                Files.move(file, target, StandardCopyOption.REPLACE_EXISTING);
                return true;
            } catch (NoSuchFileException e) {
                return false;
            }
        });
    }

    private static void deleteUnlessUsed(Path folder) throws IOException {
        try {
            Files.deleteIfExists(folder);
        } catch (DirectoryNotEmptyException e) {
            // Somebody else's debug file came meanwhile.
        }
    }

    @Test
    void aStrippedFileSaysSo() throws Exception {
        try (AnswerProgram program = AnswerProgram.start(Symbols.STRIPPED);
                BpfObject object = links(program)) {
            assertThatThrownBy(() -> object.program("on_uprobe").attach(Uprobe.entry(program.library(), "step")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("\"step\"")
                    .hasMessageContaining("stripped");
            try (Link link = object.program("on_uprobe").attach(Uprobe.entry(program.library(), "inner"))) {
                program.command("inner");
                assertThat(hits(object)).as("exported functions stay").isEqualTo(1);
            }
        }
    }

    @Test
    void aNameThatIsNotOneFunctionIsRefused() throws Exception {
        try (AnswerProgram program = AnswerProgram.start(Symbols.WHOLE);
                BpfObject object = links(program)) {
            assertThatThrownBy(() -> object.program("on_uprobe").attach(Uprobe.entry(program.program(), "twin")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("2 functions")
                    .hasMessageContaining("uprobe.multi");
            assertThatThrownBy(() -> object.program("on_uprobe").attach(Uprobe.entry(program.library(), "chosen")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("IFUNC");
            assertThatThrownBy(() -> object.program("on_uprobe").attach(Uprobe.entry(program.library(), "inne")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("it has inner");
        }
    }

    @Test
    void anOffsetIsWithinTheFunction() throws Exception {
        try (AnswerProgram program = AnswerProgram.start(Symbols.WHOLE);
                BpfObject object = links(program)) {
            // The first instruction, lea 0x28(%rdi),%rax, has 4 bytes.
            Uprobe second = Uprobe.entry(program.library(), "old_answer")
                    .withOffset(4)
                    .withCookie(77)
                    .inProcess(program.pid());
            try (Link link = object.program("on_uprobe_cookie").attach(second)) {
                program.command("old");
                assertThat(Bpf.u64(object, "uprobe_cookie")).isEqualTo(77);
            }
        }
    }

    @Test
    @Requires(UPROBE_MULTI)
    void aPatternFindsAllThatFit() throws Exception {
        try (AnswerProgram program = AnswerProgram.start(Symbols.WHOLE);
                BpfObject object = Bpf.load("links.bpf.o", l -> Bpf.only(l, program.pid()))) {
            try (Link link = object.program("on_multi").attach(UprobeMulti.entry(program.library(), "*answer"))) {
                program.command("old");
                program.command("new");
                program.command("inner");
                assertThat(Bpf.u64(object, "multi_hits")).isEqualTo(2);
            }
            Bpf.awaitNotCounted(object, "multi_hits", () -> program.command("old"));
            long before = Bpf.u64(object, "multi_hits");
            try (Link link = object.program("on_multi").attach(UprobeMulti.entry(program.program(), "twin"))) {
                program.command("twins");
                assertThat(Bpf.u64(object, "multi_hits"))
                        .as("both functions of that name")
                        .isEqualTo(before + 2);
            }
            Bpf.awaitNotCounted(object, "multi_hits", () -> program.command("twins"));
            before = Bpf.u64(object, "multi_hits");
            try (Link link = object.program("on_multi").attach(UprobeMulti.entry(program.library(), "inner", "old*"))) {
                program.command("old");
                program.command("new");
                program.command("inner");
                assertThat(Bpf.u64(object, "multi_hits")).isEqualTo(before + 2);
            }
            assertThatThrownBy(() -> object.program("on_multi")
                            .attach(UprobeMulti.entry(program.library(), "inner", "nothing*")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("\"nothing*\"");
            assertThatThrownBy(
                            () -> object.program("on_uprobe").attach(UprobeMulti.entry(program.library(), "*answer")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("uprobe.multi");
        }
    }

    /** In another order than in the file: what belongs to a function stays with it. */
    @Test
    @Requires(UPROBE_MULTI)
    void eachFunctionOfAListHasACookieAndASemaphoreOfItsOwn() throws Exception {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = Bpf.load("links.bpf.o", l -> Bpf.only(l, target.pid()))) {
            UprobeMulti functions = UprobeMulti.entry(target.path(), "poke_other", "fire_guarded", "poke")
                    .withSemaphores(semaphore(target, "target:lonely"), 0, semaphore(target, "target:guarded"))
                    .withCookies(1000, 0, 1);
            try (Link link = object.program("on_multi").attach(functions)) {
                assertThat(link.description()).contains("3 functions in " + target.path());
                assertThat(target.command("semaphores")).isEqualTo("1 1");
                target.command("poke 1");
                target.command("poke 1");
                assertThat(Bpf.u64(object, "multi_cookies")).isEqualTo(2);
                target.command("poke_other 1");
                assertThat(Bpf.u64(object, "multi_cookies")).isEqualTo(1002);
                target.command("guarded");
                assertThat(Bpf.u64(object, "multi_hits")).isEqualTo(4);
            }
            Await.until("semaphores without a link", () -> target.command("semaphores"), "0 0"::equals);
            Bpf.awaitNotCounted(object, "multi_hits", () -> target.command("poke 1"));
        }
    }

    /** bpf_get_func_ip() gives the address of the function that fired. */
    @Test
    @Requires(UPROBE_MULTI)
    void theFunctionThatFiredIsKnownByItsAddress() throws Exception {
        try (TargetProgram target = TargetProgram.start("-O2");
                ElfFile elf = ElfFile.open(target.path());
                BpfObject object = Bpf.load(
                        "links.bpf.o",
                        l -> Bpf.only(l, target.pid()).program("on_multi_ip", p -> p.withAutoload(true)));
                Link link = object.program("on_multi_ip").attach(named(target.path(), "poke_other", "poke"))) {
            assertThat(link.isClosed()).isFalse();
            long poke = elf.symbols("poke").getFirst().value();
            long other = elf.symbols("poke_other").getFirst().value();
            target.command("poke 1");
            long base = Bpf.u64(object, "multi_ip") - poke;
            assertThat(base).as("where the program is mapped").isNotNegative();
            assertThat(base % 4096).isZero();
            target.command("poke_other 1");
            assertThat(Bpf.u64(object, "multi_ip")).isEqualTo(base + other);
        }
    }

    private static long semaphore(TargetProgram target, String probe) throws IOException {
        return UsdtScan.ofFile(target.path())
                .matching(probe)
                .probes()
                .getFirst()
                .sites()
                .getFirst()
                .semaphoreOffset();
    }

    @Test
    @Requires(UPROBE_MULTI)
    void aListOfFunctionsIsAttachedAsAWholeOrNot() throws Exception {
        try (AnswerProgram program = AnswerProgram.start(Symbols.WHOLE);
                BpfObject object = Bpf.load("links.bpf.o", l -> Bpf.only(l, program.pid()))) {
            Path library = program.library();
            assertThatThrownBy(() -> object.program("on_multi").attach(named(library, "inner", "no_such")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("the file has no function \"no_such\"");
            assertThatThrownBy(() -> object.program("on_multi").attach(named(program.program(), "main", "twin")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("\"twin\" is the name of 2 functions");
            assertThatThrownBy(() -> object.program("on_multi").attach(named(library, "inner*")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("\"inner*\" is a pattern")
                    .hasMessageContaining("UprobeMulti without cookies");
            assertThatThrownBy(() -> object.program("on_multi").attach(named(library, "inner", "unprobeable")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("site 2 of 2")
                    .hasMessageContaining("it is function \"unprobeable\"");
            assertThatThrownBy(() -> object.program("on_multi").attach(named(library)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("there is no site to attach to");
            assertThatThrownBy(() -> object.program("on_uprobe").attach(named(library, "inner")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("uprobe.multi");
            try (Link link = object.program("on_multi").attach(named(library, "answer@ANSWER_1", "inner"))) {
                program.command("new");
                assertThat(Bpf.u64(object, "multi_hits")).isZero();
                program.command("old");
                program.command("inner");
                assertThat(Bpf.u64(object, "multi_hits")).isEqualTo(2);
            }
        }
    }

    /** A cookie for each makes each name mean one function. */
    private static UprobeMulti named(Path file, String... names) {
        return UprobeMulti.entry(file, names).withCookies(new long[names.length]);
    }

    /** One of many can't be probed, and the kernel refuses all: the message names it. */
    @Test
    @Requires(UPROBE_MULTI)
    void theFunctionThatCantBeProbedIsNamed() throws Exception {
        try (AnswerProgram program = AnswerProgram.start(Symbols.WHOLE);
                BpfObject object = Bpf.load("links.bpf.o", l -> Bpf.only(l, program.pid()))) {
            assertThatThrownBy(() -> object.program("on_multi").attach(UprobeMulti.entry(program.library(), "*e*")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("*e*")
                    .hasMessageContaining("\"unprobeable\"");
            program.command("inner");
            assertThat(Bpf.u64(object, "multi_hits")).isZero();
        }
    }

    private static BpfObject sections(TargetProgram target, String... optional) {
        return Bpf.load("sections.bpf.o", l -> {
            Arrays.stream(optional).forEach(name -> l.program(name, p -> p.withAutoload(true)));
            return Bpf.only(l, target.pid());
        });
    }

    @Test
    void aSectionNamesALibraryAndAFunction() throws Exception {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = sections(target);
                LinkGroup links = object.attachAll()) {
            assertThat(links.size()).isEqualTo(2);
            target.command("fork 3");
            assertThat(Bpf.u64(object, "fork_calls")).isEqualTo(3);
            assertThat(Bpf.u64(object, "fork_returns")).isEqualTo(3);
            links.close();
            Bpf.awaitNotCounted(object, "fork_calls", () -> target.command("fork"));
        }
    }

    @Test
    @Requires(UPROBE_MULTI)
    void aSectionNamesAPattern() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = sections(target, "on_threads", "on_threads_return", "on_fork_sleepable");
                LinkGroup links = object.attachAll()) {
            assertThat(links.size()).isEqualTo(5);
            target.command("poke_thread 1");
            target.command("poke_thread 2");
            target.command("fork");
            assertThat(Bpf.u64(object, "thread_calls")).isEqualTo(2);
            assertThat(Bpf.u64(object, "thread_returns")).isEqualTo(2);
            assertThat(Bpf.u64(object, "fork_sleepable")).isEqualTo(1);
        }
    }

    @Test
    @Requires({UPROBE_MULTI, UPROBE_SESSION})
    void aSessionFiresOnEntryAndOnReturn() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = sections(target, "on_fork_session", "on_fork_entry_only");
                LinkGroup links = object.attachAll()) {
            assertThat(links.size()).isEqualTo(4);
            target.command("fork 2");
            assertThat(Bpf.u64(object, "fork_sessions")).isEqualTo(4);
            assertThat(Bpf.u64(object, "fork_skipped")).isEqualTo(2);
        }
    }
}
