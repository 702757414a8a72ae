package org.example.consumer;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.objects.BpfObjects;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads an object and lists the probes of this JVM; as root it loads the object, attaches by the name of the program's
 * section, which takes the service that {@code bpf4j-usdt} provides, and runs the example of the README. Ends with 1 if
 * anything is not as it should be.
 */
public final class Consumer {
    /** The start of a record of the tracer; see trace.h of bpf4j-objects. */
    record Event(long time, long cookie) {}

    private static final int PID = Math.toIntExact(ProcessHandle.current().pid());

    private Consumer() {}

    public static void main(String[] arguments) throws Exception {
        boolean modular = arguments[0].equals("module-path");
        check(Consumer.class.getModule().isNamed() == modular, "this class is on the wrong path");
        check(
                BpfLoader.class.getModule().isNamed() == !arguments[0].equals("class-path"),
                "bpf4j is on the wrong path");

        Path object = Files.createTempFile("trace", ".bpf.o");
        try {
            Files.write(object, BpfObjects.tracer());
            ObjectSpec spec = ObjectSpec.read(object);
            check(
                    spec.findProgram("trace").isPresent()
                            && spec.findMap("events").isPresent(),
                    "not the tracer: " + spec);

            List<UsdtProbe> probes =
                    UsdtScan.ofProcess(PID).matching("hotspot:gc__*").probes();
            System.out.println(arguments[0] + ": " + spec.programs().size() + " program, " + probes.size() + " probes");
            if (arguments[1].equals("attach")) {
                attach(spec, arguments[2], probes);
            }
        } finally {
            Files.delete(object);
        }
    }

    private static void attach(ObjectSpec spec, String gc, List<UsdtProbe> probes) throws Exception {
        if (probes.isEmpty()) {
            leftOut("this JVM was built without USDT probes");
            return;
        }
        String section = "usdt/" + probes.getFirst().path() + ":hotspot:gc__begin";
        BpfLoader loader = BpfLoader.of(spec).program("trace", program -> program.withSection(section));
        List<Event> events = new ArrayList<>();
        try (BpfObject loaded = loader.load();
                Link link = loaded.program("trace").attach();
                RingBuffer ring = RingBuffer.open(loaded.map("events"))) {
            check(!link.isClosed(), "the link is closed");
            System.gc();
            ring.consume(Codec.ofRecord(Event.class), events::add);
        } catch (SyscallException e) {
            if (e.errno() != Errno.EPERM) {
                throw e;
            }
            leftOut(e.getMessage());
            return;
        }
        check(!events.isEmpty() && events.getFirst().time() > 0, "no event of a collection: " + events);

        // Ends by itself once there is nothing more to see.
        Thread collections = Thread.ofPlatform().daemon().start(() -> {
            for (int i = 0; i < 20; i++) {
                System.gc();
                sleep(Duration.ofMillis(100));
            }
        });
        GcPauses.main(new String[] {gc, String.valueOf(PID)});
        collections.join();
    }

    private static void sleep(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void leftOut(String reason) {
        check(System.getenv("CI") == null, "left out, which fails in CI: " + reason);
        System.out.println("left out: loading and attaching: " + reason);
    }

    private static void check(boolean condition, String problem) {
        if (!condition) {
            throw new IllegalStateException(problem);
        }
    }
}
