package io.bpf4j.test.support;

import java.io.IOException;
import java.util.List;

/** A pair of netkit devices, gone when this is closed. */
public final class NetkitPair implements AutoCloseable {
    private final String name;

    private NetkitPair(String name) {
        this.name = name;
    }

    /** Makes one. */
    public static NetkitPair create() throws IOException, InterruptedException {
        String name = "b4j" + ProcessHandle.current().pid() % 100_000 + "nk";
        Commands.Result result =
                Commands.run(List.of("ip", "link", "add", name, "type", "netkit", "peer", "name", name + "p"));
        if (result.exitCode() != 0) {
            throw new IOException("ip link add type netkit: " + result.err());
        }
        return new NetkitPair(name);
    }

    static boolean isPossible() {
        if (Commands.find("ip").isEmpty()) {
            return false;
        }
        try (NetkitPair pair = create()) {
            return !pair.primary().isEmpty();
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** The device that programs are attached to. */
    public String primary() {
        return name;
    }

    @Override
    public void close() throws IOException {
        try {
            Commands.check(List.of("ip", "link", "delete", name));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
