package io.bpf4j.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.cli.failure.CommandException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutputFileTest {
    private static final OutputFile.Content ANSWER = writer -> writer.write("answer");

    @TempDir
    private Path folder;

    private static int user(Path file) throws IOException {
        return (Integer) Files.getAttribute(file, "unix:uid");
    }

    /** Other users than the owner of the folder, root excepted. */
    private int somebody() throws IOException {
        return user(folder) + 1;
    }

    private static String rights(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    private void nothingIsLeftBeside(Path... files) {
        assertThat(folder.toFile().listFiles()).hasSize(files.length);
    }

    @Test
    void anEmptyNameIsRefusedAsSuch() {
        OutputFile file = new OutputFile(Path.of(""));
        assertThatThrownBy(file::check).hasMessage("the name of the file to write is empty");
    }

    @Test
    void aNewFileIsThereWhenItIsComplete() throws IOException {
        Path page = folder.resolve("page.html");
        OutputFile file = new OutputFile(page);
        file.check();
        assertThat(page).doesNotExist();
        file.write(writer -> {
            writer.write("answer");
            assertThat(page).doesNotExist();
        });
        assertThat(page).hasContent("answer");
        nothingIsLeftBeside(page);
    }

    @Test
    void aFileInPlaceKeepsItsModeAndStaysIfTheWriteFails() throws IOException {
        Path page = Files.writeString(folder.resolve("page.html"), "old");
        Files.setPosixFilePermissions(page, PosixFilePermissions.fromString("rw-------"));
        OutputFile file = new OutputFile(page);
        file.check();
        assertThatThrownBy(() -> file.write(writer -> {
                    throw new IOException("No space left on device");
                }))
                .isInstanceOf(CommandException.class)
                .hasMessage("'" + page + "' can't be written: No space left on device");
        assertThat(page).hasContent("old");
        file.write(ANSWER);
        assertThat(page).hasContent("answer");
        assertThat(rights(page)).isEqualTo("rw-------");
        Files.setPosixFilePermissions(page, PosixFilePermissions.fromString("rw-rw-rw-"));
        file.write(ANSWER);
        assertThat(rights(page)).isEqualTo("rw-rw-rw-");
        nothingIsLeftBeside(page);
    }

    /** As a signal does, in the middle of a write. */
    @Test
    void aFileThatIsGivenUpLeavesNothing() throws IOException {
        Path page = Files.writeString(folder.resolve("page.html"), "old");
        OutputFile file = new OutputFile(page);
        file.abandon();
        file.check();
        assertThatThrownBy(() -> file.write(writer -> {
                    writer.write("new");
                    file.abandon();
                    nothingIsLeftBeside(page);
                }))
                .isInstanceOf(CommandException.class);
        file.abandon();
        assertThat(page).hasContent("old");
        nothingIsLeftBeside(page);
    }

    @Test
    void aLinkOfThisUserIsFollowedAndStays() throws IOException {
        Path target = Files.writeString(folder.resolve("target.html"), "old");
        Path inner = Files.createSymbolicLink(folder.resolve("inner.html"), target);
        Path link = Files.createSymbolicLink(folder.resolve("link.html"), Path.of("inner.html"));
        OutputFile file = new OutputFile(link);
        file.check();
        file.write(ANSWER);
        assertThat(link).isSymbolicLink();
        assertThat(inner).isSymbolicLink();
        assertThat(target).hasContent("answer");
        nothingIsLeftBeside(target, inner, link);
    }

    @Test
    void aLinkToNothingGetsAFile() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link.html"), Path.of("later.html"));
        new OutputFile(link).write(ANSWER);
        assertThat(folder.resolve("later.html")).hasContent("answer");
    }

    /** Who may make links in a directory would else choose which file of this user is overwritten. */
    @Test
    void aLinkOfAnotherUserIsRefused() throws IOException {
        Path target = Files.writeString(folder.resolve("precious"), "precious");
        Path link = Files.createSymbolicLink(folder.resolve("link.html"), target);
        int self = user(folder);
        if (self == 0) {
            Files.setAttribute(link, "unix:uid", somebody(), LinkOption.NOFOLLOW_LINKS);
        } else {
            self = somebody(); // only root can give the link away
        }
        OutputFile file = new OutputFile(link, self);
        String message = "'" + link + "' can't be written: it is a symbolic link of another user, to " + target
                + "; name the file itself";
        assertThatThrownBy(file::check).isInstanceOf(CommandException.class).hasMessage(message);
        assertThatThrownBy(() -> file.write(ANSWER)).hasMessage(message);
        assertThat(target).hasContent("precious");
    }

    private int other() throws IOException {
        return user(folder) == 0 ? 0 : somebody();
    }

    /** The directory too may be chosen by another user, who must not choose one that he may not write. */
    @Test
    void aLinkOfAnotherUserToADirectoryIsRefused() throws IOException {
        Path precious = Files.createDirectory(folder.resolve("precious"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), precious);
        if (user(folder) == 0) {
            Files.setAttribute(link, "unix:uid", somebody(), LinkOption.NOFOLLOW_LINKS);
        }
        OutputFile file = new OutputFile(link.resolve("page.html"), other());
        assertThatThrownBy(() -> file.write(ANSWER))
                .hasMessage("'" + link + "/page.html' can't be written: " + link
                        + " is a symbolic link of another user, to " + precious + "; name the file itself");
        assertThat(precious.toFile().listFiles()).isEmpty();
    }

    /** A link of this user, moved to a directory of another user: who may exchange it may choose where it leads. */
    @Test
    void aLinkThatAnotherUserCouldExchangeIsRefused() throws IOException {
        Path theirs = Files.createDirectory(folder.resolve("theirs"));
        Path link = Files.createSymbolicLink(theirs.resolve("link"), folder);
        Files.setPosixFilePermissions(theirs, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThatThrownBy(() -> new OutputFile(link.resolve("page.html")).write(ANSWER))
                .hasMessageContaining("is a symbolic link in a directory where another user could replace it");
        assertThat(folder.resolve("page.html")).doesNotExist();
    }

    /** Bound to the directory that was checked, whatever its name means later. */
    @Test
    void aDirectoryThatIsExchangedMeanwhileGetsNothing() throws IOException {
        Path theirs = Files.createDirectory(folder.resolve("theirs"));
        Path precious = Files.createDirectory(folder.resolve("precious"));
        new OutputFile(theirs.resolve("page.html")).write(writer -> {
            Files.move(theirs, folder.resolve("moved"));
            Files.createSymbolicLink(theirs, precious);
            writer.write("answer");
        });
        assertThat(precious.toFile().listFiles()).isEmpty();
        assertThat(folder.resolve("moved/page.html")).hasContent("answer");
    }

    @Test
    void aDescriptorOfTheJvmIsRefused() throws IOException {
        Path open = Files.writeString(folder.resolve("open"), "open");
        try (FileChannel _ = FileChannel.open(open, StandardOpenOption.READ);
                Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            String number = descriptors
                    .filter(each -> Files.exists(each) && isSame(each, open))
                    .map(each -> String.valueOf(each.getFileName()))
                    .findFirst()
                    .orElseThrow();
            for (String named : List.of("/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/", "/dev/../dev/fd/")) {
                OutputFile file = new OutputFile(Path.of(named + number));
                assertThatThrownBy(file::check)
                        .hasMessageContaining("descriptor " + number + " is not a pipe that this process inherited");
                assertThatThrownBy(() -> file.write(ANSWER)).isInstanceOf(CommandException.class);
            }
        }
        assertThat(open).hasContent("open");
    }

    private static boolean isSame(Path one, Path other) {
        try {
            return Files.isSameFile(one, other);
        } catch (IOException e) {
            return false;
        }
    }

    /** They could have put it there to read the answer; and if not, the answer is not meant for them. */
    @Test
    void aFileOfAnotherUserIsRefused() throws IOException {
        Path page = Files.writeString(folder.resolve("page.html"), "theirs");
        OutputFile file = new OutputFile(page, somebody());
        assertThatThrownBy(file::check)
                .hasMessage("'" + page
                        + "' can't be written: the file belongs to another user; remove it first, or name another one");
        assertThatThrownBy(() -> file.write(ANSWER)).isInstanceOf(CommandException.class);
        assertThat(page).hasContent("theirs");
    }

    @Test
    void aRefusalNamesTheFileOfTheUserAndTheReason() throws IOException {
        assertThatThrownBy(() -> new OutputFile(folder).check())
                .hasMessage("'" + folder + "' can't be written: it is a directory");
        Path nowhere = folder.resolve("nowhere/page.html");
        assertThatThrownBy(() -> new OutputFile(nowhere).check())
                .hasMessage("'" + nowhere + "' can't be written: there is no directory " + nowhere.getParent());
        Path below = Files.createFile(folder.resolve("file")).resolve("page.html");
        assertThatThrownBy(() -> new OutputFile(below).check())
                .hasMessage("'" + below + "' can't be written: " + below.getParent() + " is not a directory");
        Path circle = Files.createSymbolicLink(folder.resolve("circle"), Path.of("circle"));
        assertThatThrownBy(() -> new OutputFile(circle).check())
                .hasMessage("'" + circle + "' can't be written: symbolic links form a loop");
    }
}
