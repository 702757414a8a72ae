package io.bpf4j.test.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A PostgreSQL server of the test's own: fresh data folder, no TCP, its unix socket in the same folder. It runs as user
 * {@code postgres}, since it refuses to run as root. Close stops it and deletes the folder.
 *
 * <p>The server runs from a copy of its executable in that folder. A probe belongs to a file: with the installed
 * executable, a trace would also get the events of each other server of the machine, among them those of tests that
 * run at the same time.
 */
public final class PostgresServer implements AutoCloseable {
    /** Ends a start or a stop that hangs; pg_ctl alone gives up after 60 seconds. */
    private static final String PATIENCE_SECONDS = Long.toString(Patience.scaled(600));

    /** These look for each other beside themselves. What else they need is where they were built for. */
    private static final List<String> COPIED = List.of("postgres", "initdb", "pg_ctl");

    private final Path bin;
    private final Path folder;

    private PostgresServer(Path bin, Path folder) {
        this.bin = bin;
        this.folder = folder;
    }

    /** The folder of the newest installed server's programs, as Debian lays them out. */
    public static Optional<Path> installation() {
        try (Stream<Path> versions = Files.list(Path.of("/usr/lib/postgresql"))) {
            return versions.filter(v -> v.getFileName().toString().matches("\\d+"))
                    .filter(v -> Files.isExecutable(v.resolve("bin/postgres"))
                            && Files.isExecutable(v.resolve("bin/initdb"))
                            && Files.isExecutable(v.resolve("bin/psql")))
                    .max(Comparator.comparingInt(
                            v -> Integer.parseInt(v.getFileName().toString())))
                    .map(v -> v.resolve("bin"));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    public static PostgresServer start() throws IOException, InterruptedException {
        Path bin = installation().orElseThrow();
        Path folder = Files.createTempDirectory("bpf4j-postgres");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path data = folder.resolve("data");
        Commands.check(List.of("chown", "postgres", folder.toString()));
        PostgresServer server = new PostgresServer(bin, folder);
        try {
            for (String program : COPIED) {
                Files.copy(bin.resolve(program), folder.resolve(program), StandardCopyOption.COPY_ATTRIBUTES);
            }
            server.asPostgres("initdb", "-D", data.toString(), "-A", "trust", "--no-sync", "--no-instructions");
            // jit off: compiling queries with LLVM would only take time. -k: where the socket goes.
            server.asPostgres(
                    "pg_ctl",
                    "-D",
                    data.toString(),
                    "-l",
                    folder.resolve("log").toString(),
                    "-w",
                    "-t",
                    PATIENCE_SECONDS,
                    "-o",
                    "-c listen_addresses= -c fsync=off -c jit=off -k " + folder,
                    "start");
            return server;
        } catch (IOException | InterruptedException | RuntimeException | Error e) {
            server.close();
            throw e;
        }
    }

    /** The program that has the probes, which no other server runs. */
    public Path executable() {
        return folder.resolve("postgres");
    }

    /** The server's first process, which forks the others. */
    public int pid() throws IOException {
        return Integer.parseInt(Files.readAllLines(folder.resolve("data/postmaster.pid"))
                .getFirst()
                .strip());
    }

    /** The major version: 15. */
    public int version() {
        return Integer.parseInt(bin.getName(bin.getNameCount() - 2).toString());
    }

    /** Runs one SQL statement in a session of its own; what it printed. */
    public String sql(String statement) throws IOException, InterruptedException {
        return asPostgres("psql", "-h", folder.toString(), "-d", "postgres", "-AtXq", "-c", statement);
    }

    /**
     * Runs an SQL statement many times in one session.
     *
     * @param protocol of pgbench: {@code simple}, {@code extended} or {@code prepared}
     */
    public void bench(String statement, String protocol, int times) throws IOException, InterruptedException {
        Path script = Files.writeString(folder.resolve("bench.sql"), statement + ";\n");
        asPostgres(
                "pgbench",
                "-h",
                folder.toString(),
                "-n",
                "-M",
                protocol,
                "-t",
                Integer.toString(times),
                "-f",
                script.toString(),
                "postgres");
    }

    /** What the server has logged so far, a line for each message. */
    public List<String> log() throws IOException {
        return Files.readAllLines(folder.resolve("log"));
    }

    private String asPostgres(String program, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(
                List.of("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--", "env", "LC_ALL=C"));
        command.add((COPIED.contains(program) ? folder : bin).resolve(program).toString());
        command.addAll(Arrays.asList(arguments));
        Commands.Result result = Commands.run(new ProcessBuilder(command).directory(folder.toFile()));
        if (result.exitCode() != 0) {
            throw new AssertionError(command + " ended with " + result.exitCode() + ": " + result.out() + result.err());
        }
        return result.out();
    }

    @Override
    public void close() {
        try {
            if (Files.exists(folder.resolve("data/postmaster.pid"))) {
                asPostgres(
                        "pg_ctl",
                        "-D",
                        folder.resolve("data").toString(),
                        "-m",
                        "immediate",
                        "-w",
                        "-t",
                        PATIENCE_SECONDS,
                        "stop");
            }
        } catch (IOException e) {
            throw new AssertionError("stopping PostgreSQL", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            TargetProgram.deleteRecursively(folder);
        }
    }
}
