package io.bpf4j.test.again;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.LockSupport;

/**
 * Takes processors, memory and the disk from everybody else, until its standard input ends: so it ends with the process
 * that started it, however that ends.
 */
final class Hogs {
    private static final int FILE_SIZE = 8 << 20;

    private Hogs() {}

    /**
     * Takes the number of threads that compute, how much of the time they do (percent), the memory that is written again
     * and again (MiB), and a folder.
     */
    public static void main(String[] arguments) throws IOException {
        int threads = Integer.parseInt(arguments[0]);
        int percent = Integer.parseInt(arguments[1]);
        long bytes = Long.parseLong(arguments[2]) << 20;
        Path folder = Path.of(arguments[3]);
        for (int i = 0; i < threads; i++) {
            hog("compute-" + i, () -> compute(percent));
        }
        hog("memory", () -> write(bytes));
        hog("disk", () -> writeFile(folder.resolve("hog")));
        while (System.in.read() >= 0) {
            // Nothing is said to it.
        }
        System.exit(0);
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void hog(String name, Work work) {
        Thread.ofPlatform().daemon().name(name).start(() -> {
            try {
                while (true) {
                    work.run();
                }
            } catch (IOException e) {
                System.err.println(name + " gives up: " + e);
            }
        });
    }

    /** A tenth of a second. */
    private static void compute(int percent) {
        long start = System.nanoTime();
        while (System.nanoTime() - start < percent * 1_000_000L) {
            Thread.onSpinWait();
        }
        if (percent < 100) {
            LockSupport.parkNanos((100 - percent) * 1_000_000L);
        }
    }

    private static void write(long bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(bytes);
            for (byte round = 1; round < 20; round++) {
                memory.fill(round);
            }
        }
    }

    private static void writeFile(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = ByteBuffer.allocate(FILE_SIZE);
            for (int i = 0; i < 4; i++) {
                channel.write(bytes.rewind());
                channel.force(true);
            }
        }
        Files.delete(file);
    }
}
