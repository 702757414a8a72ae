package io.bpf4j.test.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** A terminal with a shell in it, which a test types at and looks at. <em>Confined.</em> */
public final class Tmux implements AutoCloseable {
    private final Path folder;

    /**
     * Opens it, with the command {@code ./bpf4j} in its working directory.
     *
     * @param folder of its own
     * @param environment such as {@code NO_COLOR=1}
     */
    public Tmux(Path folder, int columns, int rows, String... environment) throws IOException, InterruptedException {
        this.folder = folder;
        Path script = folder.resolve("bpf4j");
        List<String> quoted =
                Cli.command().stream().map(word -> "'" + word + "'").toList();
        Files.writeString(script, "#!/bin/sh\nexec " + String.join(" ", quoted) + " \"$@\"\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        List<String> start = new ArrayList<>(List.of("-u", "-f", "/dev/null", "new-session", "-d"));
        start.addAll(List.of("-x", Integer.toString(columns), "-y", Integer.toString(rows), "-c", folder.toString()));
        start.addAll(List.of("env", "-u", "NO_COLOR", "-u", "COLUMNS", "TERM=screen-256color", "PS1=$ "));
        start.addAll(List.of(environment));
        start.add("sh");
        tmux(start.toArray(String[]::new));
    }

    private String tmux(String... arguments) throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of("tmux", "-S", folder.resolve("socket").toString()));
        command.addAll(List.of(arguments));
        return Commands.check(command);
    }

    /** Types a line at the shell. */
    public void line(String text) throws IOException, InterruptedException {
        tmux("send-keys", "-l", text);
        press("Enter");
    }

    /** Presses a key by its name for tmux: {@code C-c}, {@code Right}, {@code q}. */
    public void press(String key) throws IOException, InterruptedException {
        tmux("send-keys", key);
    }

    public void resize(int columns, int rows) throws IOException, InterruptedException {
        tmux("resize-window", "-x", Integer.toString(columns), "-y", Integer.toString(rows));
    }

    /** What is on the screen. */
    public String screen() throws IOException, InterruptedException {
        return tmux("capture-pane", "-p");
    }

    /** The same with the sequences that colour it. */
    public String coloured() throws IOException, InterruptedException {
        return tmux("capture-pane", "-p", "-e");
    }

    /** Whether the alternate screen is shown. */
    public boolean isFullScreen() throws IOException, InterruptedException {
        return tmux("display-message", "-p", "#{alternate_on}").strip().equals("1");
    }

    public boolean showsCursor() throws IOException, InterruptedException {
        return tmux("display-message", "-p", "#{cursor_flag}").strip().equals("1");
    }

    /** The process that reads what programs write to the terminal. */
    public String server() throws IOException, InterruptedException {
        return tmux("display-message", "-p", "#{pid}").strip();
    }

    /** Waits until the screen is as wanted, and returns it. */
    public String await(String what, Predicate<String> wanted) throws IOException, InterruptedException {
        return Await.until("a screen with " + what, this::screen, wanted);
    }

    /** Waits until the screen has this, and returns it. */
    public String await(String text) throws IOException, InterruptedException {
        return await(text, screen -> screen.contains(text));
    }

    @Override
    public void close() throws IOException {
        try {
            tmux("kill-server");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
