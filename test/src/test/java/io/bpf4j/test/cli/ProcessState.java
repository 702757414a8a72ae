package io.bpf4j.test.cli;

import io.bpf4j.test.support.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** What another process does right now: proc_pid_stat(5), proc_pid_syscall(5), proc_pid_io(5). */
final class ProcessState {
    /** The first words of a thread's file {@code syscall}: a number, which machines differ in, and the descriptor. */
    private static final String READ_OF_INPUT = number("0", "3", "63") + " 0x0 ";

    private static final String WRITE_TO_OUTPUT = number("1", "4", "64") + " 0x1 ";

    private ProcessState() {}

    private static String number(String amd64, String s390x, String others) {
        return switch (System.getProperty("os.arch")) {
            case "amd64" -> amd64;
            case "s390x" -> s390x;
            default -> others;
        };
    }

    /** The letter for the state of its first thread: {@code S} sleeps, {@code T} was stopped by a signal. */
    static char of(long pid) throws IOException {
        String stat = stat(pid);
        return stat.charAt(stat.lastIndexOf(')') + 2);
    }

    /** Returns once a signal has stopped it. */
    static void awaitStopped(long pid) throws IOException, InterruptedException {
        Await.until("process " + pid + " is stopped", () -> of(pid) == 'T');
    }

    /** Returns once it sleeps and runs that program, which it may have started as another one. */
    static void awaitAsleep(long pid, String program) throws IOException, InterruptedException {
        Await.until(
                "process " + pid + " runs " + program + " and sleeps",
                () -> stat(pid),
                stat -> stat.contains("(" + program + ") S "));
    }

    /** Returns once it waits for standard input: it has loaded its program and the libraries. */
    static void awaitReadOfInput(long pid) throws IOException, InterruptedException {
        Await.until(
                "process " + pid + " reads standard input",
                () -> call(process(pid)),
                call -> call.startsWith(READ_OF_INPUT));
    }

    /** Returns once a thread sleeps in a write to standard output, and goes on sleeping: nobody reads the output. */
    static void awaitBlockedWrite(long pid) throws IOException, InterruptedException {
        String[] before = {""};
        Await.until("a thread of process " + pid + " sleeps in a write to standard output", () -> {
            String now = blockedWrite(process(pid));
            boolean stays = !now.isEmpty() && now.equals(before[0]);
            before[0] = now;
            return stays;
        });
    }

    /** The calls of threads that write to standard output, and the bytes written so far; empty if there is no such. */
    private static String blockedWrite(Path process) throws IOException {
        StringBuilder calls = new StringBuilder();
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(process.resolve("task"))) {
            for (Path thread : threads) {
                String call = call(thread);
                if (call.startsWith(WRITE_TO_OUTPUT)) {
                    calls.append(thread).append(' ').append(call);
                }
            }
        }
        if (!calls.isEmpty()) {
            Files.readAllLines(process.resolve("io")).stream()
                    .filter(line -> line.startsWith("wchar"))
                    .forEach(calls::append);
        }
        return calls.toString();
    }

    /** Number and arguments of the system call that a thread sleeps in; another text if it doesn't, or has ended. */
    private static String call(Path thread) throws IOException {
        try {
            return Files.readString(thread.resolve("syscall"));
        } catch (IOException e) {
            if (Files.exists(thread)) {
                throw e;
            }
            return "";
        }
    }

    private static String stat(long pid) throws IOException {
        // The name in it may have bytes that are not UTF-8.
        return Files.readString(process(pid).resolve("stat"), StandardCharsets.ISO_8859_1);
    }

    private static Path process(long pid) {
        return Path.of("/proc", Long.toString(pid));
    }
}
