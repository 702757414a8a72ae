package org.example.forks;

import io.bpf4j.loader.binding.EventMap;
import io.bpf4j.loader.link.Link;
import java.time.Duration;

/** Prints its own fork. */
final class Main {
    private Main() {}

    public static void main(String[] args) throws Exception {
        int self = (int) ProcessHandle.current().pid();
        Forks.Builder builder = Forks.open().process(self);
        if (args[0].equals("open")) {
            System.out.println("opened");
            return;
        }
        try (Forks forks = builder.load();
                Link _ = forks.onFork().attach();
                EventMap.Reader events =
                        forks.events().open(fork -> System.out.println("fork of " + (fork.process() == self)))) {
            new ProcessBuilder("true").start().waitFor();
            events.poll(Duration.ofSeconds(60));
        }
    }
}
