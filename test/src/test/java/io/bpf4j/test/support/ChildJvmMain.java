package io.bpf4j.test.support;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** Main class of {@link ChildJvm}: makes the JVM do what HotSpot has probes for, on command. */
public final class ChildJvmMain {
    private ChildJvmMain() {}

    /** Loaded by the command {@code load}, and by nothing else. */
    static final class LoadedOnCommand {
        private LoadedOnCommand() {}
    }

    public static void main(String[] args) throws IOException, ReflectiveOperationException, InterruptedException {
        System.out.println("ready " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ", 2);
            switch (words[0]) {
                case "gc" -> System.gc();
                case "load" -> Class.forName(words[1]);
                case "thread" -> {
                    Thread thread = new Thread(() -> {}, words[1]);
                    thread.start();
                    thread.join();
                }
                default -> throw new IllegalArgumentException(line);
            }
            System.out.println("ok");
        }
    }
}
