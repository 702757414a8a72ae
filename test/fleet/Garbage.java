import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * A JVM that makes garbage at a steady rate; see {@code hour}. It takes a word from each line of standard input:
 *
 * <pre>
 * go      begins to allocate
 * stop    ends that, and says "stopped" when nothing is allocated any more
 * end     ends the JVM, and so does the end of the input
 * </pre>
 *
 * <p>What it keeps becomes more and less over a minute, so pauses differ; twice a minute it asks for a full collection.
 */
class Garbage {
    private static final int PIECE = 1024;
    private static final int PIECES_PER_TURN = 160;
    private static final int MILLIS_PER_TURN = 10;
    private static final int LEAST_KEPT = 2 * 1024;
    private static final int MOST_KEPT = 14 * 1024;
    private static final double SECONDS_OF_SWING = 60;
    private static final long NANOS_BETWEEN_FULL = 30_000_000_000L;

    private static volatile boolean going;

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Thread worker = Thread.ofPlatform().daemon().unstarted(Garbage::allocate);
        BufferedReader words = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        for (String word = words.readLine(); word != null && !word.equals("end"); word = words.readLine()) {
            if (word.equals("go")) {
                going = true;
                worker.start();
            } else if (word.equals("stop")) {
                going = false;
                worker.join();
                System.out.println("stopped");
            }
        }
    }

    private static void allocate() {
        byte[][] kept = new byte[MOST_KEPT][];
        long start = System.nanoTime();
        long full = start + NANOS_BETWEEN_FULL;
        int next = 0;
        while (going) {
            long now = System.nanoTime();
            double swing = (1 - Math.cos((now - start) / 1e9 / SECONDS_OF_SWING * 2 * Math.PI)) / 2;
            int keep = LEAST_KEPT + (int) ((MOST_KEPT - LEAST_KEPT) * swing);
            for (int i = 0; i < PIECES_PER_TURN; i++) {
                next = (next + 1) % MOST_KEPT;
                kept[next] = new byte[PIECE];
                kept[(next - keep + MOST_KEPT) % MOST_KEPT] = null;
            }
            if (now - full >= 0) {
                full += NANOS_BETWEEN_FULL;
                System.gc();
            }
            try {
                Thread.sleep(MILLIS_PER_TURN);
            } catch (InterruptedException e) {
                return;
            }
        }
    }
}
