package io.bpf4j.benchmarks;

import java.io.IOException;

/** A JVM that is there to be attached to: says one byte when it is up, and ends with its standard input. */
final class IdleMain {
    private IdleMain() {}

    public static void main(String[] arguments) throws IOException {
        System.out.println('.');
        System.in.readAllBytes();
    }
}
