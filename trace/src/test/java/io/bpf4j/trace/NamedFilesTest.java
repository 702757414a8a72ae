package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.sys.Diagnostic;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NamedFilesTest {
    private static final Object OWNER = new Object();

    @TempDir
    Path folder;

    private Path program = Path.of("");
    private Instant time = Instant.parse("2026-01-02T03:04:05.678Z");
    private final NamedFiles files = new NamedFiles(() -> time);

    @BeforeEach
    void watch() throws IOException {
        program = write("program", "one");
        files.watch(OWNER, Set.of(new NamedFiles.Named(program, FileIdentity.of(program))));
    }

    private Path write(String name, String content) throws IOException {
        return Files.writeString(folder.resolve(name), content);
    }

    private void replace(Path by) throws IOException {
        Files.move(by, program, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private List<String> gaps() {
        files.look();
        return files.gaps(Optional.empty()).stream().map(Diagnostic::message).toList();
    }

    private String replaced() {
        return program + " was replaced at about 2026-01-02T03:04:05Z: processes that have started since run another"
                + " file, which nothing is attached to";
    }

    @Test
    void aFileThatIsReplacedTwiceIsSaidOnce() throws IOException {
        assertThat(gaps()).isEmpty();
        replace(write("two", "two"));
        assertThat(gaps()).containsExactly(replaced());
        time = time.plusSeconds(60);
        replace(write("three", "three"));
        assertThat(gaps()).containsExactly(replaced());
    }

    @Test
    void aFileThatCameBackWasReplacedInBetween() throws IOException {
        Path aside = folder.resolve("aside");
        Files.createLink(aside, program);
        replace(write("two", "two"));
        assertThat(gaps()).containsExactly(replaced());
        replace(aside);
        assertThat(gaps()).containsExactly(replaced());
    }

    private NamedFiles.Named now() throws IOException {
        return new NamedFiles.Named(program, FileIdentity.of(program));
    }

    @Test
    void theNewFileIsAttachedTo() throws IOException {
        // As the kernel keeps the inode while a probe is attached to it.
        Files.createLink(folder.resolve("one"), program);
        replace(write("two", "two"));
        assertThat(files.replaced()).as("not seen yet").isEmpty();
        assertThat(gaps()).containsExactly(replaced());
        assertThat(files.replaced()).containsExactly(program);
        time = time.plusSeconds(5);
        Object second = new Object();
        files.watch(second, Set.of(now()));
        String attached = program + " was replaced at about 2026-01-02T03:04:05Z, and the new file was attached to at"
                + " about 2026-01-02T03:04:10Z: events in between are missing";
        assertThat(files.replaced()).isEmpty();
        assertThat(gaps()).containsExactly(attached);
        files.watch(new Object(), Set.of(now()));
        assertThat(gaps()).as("to more of its probes").containsExactly(attached);
        time = time.plusSeconds(60);
        replace(write("three", "three"));
        assertThat(gaps())
                .containsExactly(program + " was replaced 2 times, last at about 2026-01-02T03:05:10Z: processes that"
                        + " have started since run another file, which nothing is attached to");
        assertThat(files.replaced()).containsExactly(program);
        files.watch(new Object(), Set.of(now()));
        files.forget(second);
        assertThat(gaps()).singleElement().asString().contains("2 times", "and the new file was attached to");
        assertThat(files.replaced()).isEmpty();
    }

    /** Such as when further probes of it can't be attached to. */
    @Test
    void theNewFileIsAttachedToNoMore() throws IOException {
        replace(write("two", "two"));
        assertThat(gaps()).containsExactly(replaced());
        Object second = new Object();
        files.watch(second, Set.of(now()));
        files.forget(second);
        assertThat(gaps()).containsExactly(replaced());
        assertThat(files.replaced()).containsExactly(program);
    }

    @Test
    void whatIsWrittenInItsPlaceIsNoOtherFile() throws IOException {
        write("program", "other");
        assertThat(gaps()).hasSize(1);
        assertThat(files.replaced()).isEmpty();
    }

    @Test
    void aLinkThatIsSwitched() throws IOException {
        Path current = Files.createSymbolicLink(folder.resolve("current"), program);
        NamedFiles ofLink = new NamedFiles(() -> time);
        ofLink.watch(OWNER, Set.of(new NamedFiles.Named(current, FileIdentity.of(current))));
        Path next = Files.createSymbolicLink(folder.resolve("next"), write("two", "two"));
        Files.move(next, current, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        ofLink.look();
        assertThat(ofLink.gaps(Optional.empty()))
                .singleElement()
                .extracting(Diagnostic::subject)
                .isEqualTo(current.toString());
    }

    @Test
    void aFileThatIsWrittenInItsPlace() throws IOException {
        write("program", "other");
        assertThat(gaps())
                .singleElement()
                .asString()
                .startsWith(program + " was written at about 2026-01-02T03:04:05Z: its probes are attached where they"
                        + " were before");
    }

    @Test
    void aFileOfTheSameSizeAndTimeIsAnother() throws IOException {
        FileTime modified = Files.getLastModifiedTime(program);
        Path two = write("two", "two");
        Files.setLastModifiedTime(two, modified);
        replace(two);
        assertThat(gaps()).containsExactly(replaced());
    }

    @Test
    void whatNobodyCanRunReplacesNothing() throws IOException, InterruptedException {
        Path aside = folder.resolve("aside");
        Files.move(program, aside);
        assertThat(gaps()).as("no file").isEmpty();
        Files.createDirectory(program);
        assertThat(gaps()).as("a folder").isEmpty();
        Files.delete(program);
        assertThat(new ProcessBuilder("mkfifo", program.toString()).start().waitFor())
                .isZero();
        assertThat(gaps()).as("a FIFO").isEmpty();
        Files.delete(program);
        Files.createSymbolicLink(program, folder.resolve("nowhere"));
        assertThat(gaps()).as("a link to nothing").isEmpty();
        replace(aside);
        assertThat(gaps()).as("the file itself").isEmpty();
    }

    @Test
    void aPathThatCannotBeReadMayLeadToAnything() throws IOException {
        Path aside = folder.resolve("aside");
        Files.move(program, aside);
        Files.createSymbolicLink(program, program);
        String unseen = "whether " + program + " was replaced could not be seen at about 2026-01-02T03:04:05Z: ";
        assertThat(gaps()).singleElement().asString().startsWith(unseen);
        replace(aside);
        assertThat(gaps())
                .as("it may have been another file")
                .singleElement()
                .asString()
                .startsWith(unseen);
    }

    @Test
    void whatIsForgottenMattersNoMore() throws IOException {
        files.forget(OWNER);
        replace(write("two", "two"));
        assertThat(gaps()).isEmpty();
        assertThat(files.gaps(Optional.of("no answer"))).isEmpty();
    }

    @Test
    void aFileSystemThatDoesNotAnswer() {
        assertThat(files.gaps(Optional.of("no answer")))
                .singleElement()
                .asString()
                .isEqualTo("whether the traced files were replaced can't be seen: no answer");
    }

    @Test
    void fewOfManyFilesAreNamed() throws IOException {
        FileIdentity another = FileIdentity.of(folder);
        for (int i = 0; i < 20; i++) {
            files.watch(OWNER, Set.of(new NamedFiles.Named(write("file" + i, "other"), another)));
        }
        assertThat(gaps()).hasSize(11).last().isEqualTo("the same happened to further files");
    }
}
