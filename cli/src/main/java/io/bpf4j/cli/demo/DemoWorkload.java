package io.bpf4j.cli.demo;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;

/**
 * The program of the traced JVM of {@code bpf4j demo}: allocates, loads classes and starts threads, a few at a time, in
 * bounded memory, until its time is over.
 *
 * <p>It writes a byte to standard output when it is ready, and waits for a byte on standard input before it starts, so
 * that the tracer can attach first. If the tracer ends before that, the pipe is closed, and this process ends, too.
 *
 * <p>Tested by {@code DemoJvmTest}.
 */
public final class DemoWorkload {
    private static final int GARBAGE_BLOCK = 64 * 1024;
    private static final int BLOCKS_PER_ROUND = 64;
    private static final long ROUND_MILLIS = 100;

    private static final String[] NAMES = {"Greeter", "Parcel", "Ledger", "Beacon", "Harvest", "Lantern"};

    /** Keeps the compiler from removing the allocation of unused garbage. */
    @SuppressWarnings("unused")
    private static volatile byte[] sink = new byte[0];

    private DemoWorkload() {}

    /**
     * Runs the workload.
     *
     * @param args the duration in milliseconds
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        long millis = Long.parseLong(args[0]);
        warmUp();
        System.out.print('r');
        System.out.flush();
        if (System.in.read() < 0) {
            return;
        }
        long end = System.nanoTime() + millis * 1_000_000;
        for (int round = 0; System.nanoTime() - end < 0; round++) {
            makeGarbage();
            if (round % 4 == 0) {
                loadClass(1 + round / 4);
            }
            if (round % 5 == 0) {
                Thread worker = new Thread(DemoWorkload::makeGarbage, "demo-worker-" + round / 5);
                worker.start();
                worker.join();
            }
            if (round % 15 == 14) {
                System.gc();
            }
            Thread.sleep(ROUND_MILLIS);
        }
    }

    /** Does everything once, so that the demo does not show the hundreds of classes that the JDK itself loads. */
    private static void warmUp() throws InterruptedException {
        makeGarbage();
        loadClass(0);
        Thread worker = new Thread(DemoWorkload::makeGarbage, "demo-warm-up");
        worker.start();
        worker.join();
        System.gc();
    }

    /** Fills 4 MiB of the young generation; no object outlives the call. */
    private static void makeGarbage() {
        for (int i = 0; i < BLOCKS_PER_ROUND; i++) {
            sink = new byte[GARBAGE_BLOCK];
        }
        sink = new byte[0];
    }

    private static void loadClass(int number) {
        String name = "demo." + NAMES[number % NAMES.length] + number;
        byte[] bytes = ClassFile.of().build(ClassDesc.of(name), _ -> {});
        new OneClassLoader().define(name, bytes);
    }

    /** A loader that becomes garbage together with its class. */
    private static final class OneClassLoader extends ClassLoader {
        OneClassLoader() {
            super(DemoWorkload.class.getClassLoader());
        }

        void define(String name, byte[] bytes) {
            defineClass(name, bytes, 0, bytes.length);
        }
    }
}
