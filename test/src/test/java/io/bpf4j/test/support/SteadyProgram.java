package io.bpf4j.test.support;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The program of {@code src/test/c/steady}, running: it fires {@code steady:beat} every millisecond, whatever a test
 * does, until it is closed. <em>Confined.</em>
 */
public final class SteadyProgram extends LineProcess {
    private SteadyProgram(List<String> command) throws IOException {
        super(new ProcessBuilder(command));
    }

    /** Compiles it. */
    public static Path compile(String... flags) {
        List<String> all = new ArrayList<>(List.of("-O2"));
        all.addAll(Arrays.asList(flags));
        return CPrograms.compile("steady", all.toArray(String[]::new));
    }

    /**
     * Starts it.
     *
     * @param before the words of a command that replaces itself by it: {@code setpriv --reuid=65534}
     */
    public static SteadyProgram start(Path program, String... before) throws IOException {
        List<String> command = new ArrayList<>(Arrays.asList(before));
        command.add(program.toString());
        return new SteadyProgram(command);
    }

    /** How many listen to its probe. */
    public int listeners() throws IOException {
        return Integer.parseInt(command("listeners"));
    }
}
