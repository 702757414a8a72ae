package io.bpf4j.test.support;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** Main class of a JVM whose calls are known: each line makes {@code outerCall} call {@code innerCall}, which asks for the time. */
public final class CallsMain {
    private CallsMain() {}

    public static void main(String[] args) throws IOException {
        System.out.println("ready " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println("ok " + outerCall());
        }
    }

    static long outerCall() {
        return innerCall() * 3;
    }

    static long innerCall() {
        return System.nanoTime() * 5;
    }
}
