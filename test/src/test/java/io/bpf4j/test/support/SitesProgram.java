package io.bpf4j.test.support;

import java.io.IOException;
import java.nio.file.Path;

/**
 * The C program under {@code test/src/test/c/sites}, running: a probe {@code sites:many} with as many sites and
 * argument strings as the test wants, and {@code sites:one}. A command is a number; it fires every site once.
 */
public final class SitesProgram extends LineProcess {
    private final Path path;

    private SitesProgram(Path path) throws IOException {
        super(new ProcessBuilder(path.toString()));
        this.path = path;
    }

    /**
     * Starts it with strings times rounds sites.
     *
     * @param strings argument strings of {@code sites:many}, at most 32,767
     * @param rounds how many sites each of them has
     */
    public static SitesProgram start(int strings, int rounds) throws IOException {
        return new SitesProgram(CPrograms.compile("sites", "-O2", "-DSTRINGS=" + strings, "-DROUNDS=" + rounds));
    }

    public Path path() {
        return path;
    }
}
