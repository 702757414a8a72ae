package io.bpf4j.test.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test that leaves something open: descriptors of BPF maps, programs, links and BTF, of perf events and epoll,
 * of files other than the JVM's own, or mappings of those.
 *
 * <p>Why descriptors and not the kernel's lists of all maps and programs: those belong to the whole machine, where
 * others load and unload too. What a process holds keeps a kernel object alive by a descriptor, a mapping or a pin in
 * bpffs, and nothing here pins; so with the first two gone, the object is gone.
 */
public final class LeakCheck implements BeforeEachCallback, AfterEachCallback {
    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(LeakCheck.class);

    @Override
    public void beforeEach(ExtensionContext context) throws IOException {
        context.getStore(NAMESPACE).put("before", open());
    }

    @Override
    @SuppressWarnings("unchecked")
    public void afterEach(ExtensionContext context) throws Exception {
        Map<String, Integer> before =
                (Map<String, Integer>) context.getStore(NAMESPACE).remove("before", Map.class);
        if (context.getExecutionException().isEmpty() && before != null) {
            assertNothingMoreOpenThan(before);
        }
    }

    /** What is open now, for {@link #assertNothingMoreOpenThan}: kinds and paths with how often. */
    public static Map<String, Integer> open() throws IOException {
        Map<String, Integer> counts = new TreeMap<>();
        try (Stream<Path> fds = Files.list(Path.of("/proc/self/fd"))) {
            fds.forEach(fd -> {
                try {
                    count(counts, "descriptor of ", Files.readSymbolicLink(fd).toString());
                } catch (IOException e) {
                    // The descriptor of this very listing, or one that has just been closed.
                }
            });
        }
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            lines.forEach(line -> {
                int anonymous = line.indexOf("anon_inode:");
                if (anonymous >= 0) {
                    count(counts, "mapping of ", line.substring(anonymous));
                }
            });
        }
        return counts;
    }

    /** Waits for what the kernel or a cleaner thread closes late; fails with a list if it stays open. */
    public static void assertNothingMoreOpenThan(Map<String, Integer> before) throws IOException, InterruptedException {
        Await.until("nothing more open than before", () -> moreThan(before), Map::isEmpty);
    }

    /** What is open now and was not before. */
    public static Map<String, Integer> moreThan(Map<String, Integer> before) throws IOException {
        Map<String, Integer> more = new TreeMap<>();
        open().forEach((what, count) -> {
            int added = count - before.getOrDefault(what, 0);
            if (added > 0) {
                more.put(what, added);
            }
        });
        return more;
    }

    private static void count(Map<String, Integer> counts, String how, String what) {
        boolean ofTheJvm = what.endsWith(".jar")
                || what.endsWith(".class")
                || what.endsWith("/lib/modules")
                || what.startsWith("/dev/")
                || what.startsWith("/proc/")
                || what.startsWith("pipe:")
                || what.startsWith("socket:");
        if (!ofTheJvm) {
            counts.merge(how + what, 1, Integer::sum);
        }
    }
}
