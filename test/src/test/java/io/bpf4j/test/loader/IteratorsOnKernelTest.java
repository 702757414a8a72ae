package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.ITER_OF_ELEMENTS;
import static io.bpf4j.test.support.Requirement.ITER_OF_PROCESS;
import static io.bpf4j.test.support.Requirement.KERNEL_BTF;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.Iter;
import io.bpf4j.loader.link.IteratorLink;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Iterators, read as streams. */
@Requires({BPF, KERNEL_BTF})
@ExtendWith(LeakCheck.class)
@Timeout(300)
class IteratorsOnKernelTest {
    /** PROC_PID_INIT_INO in include/linux/proc_ns.h. */
    private static final String INITIAL_PID_NAMESPACE = "pid:[4026531836]";

    private static BpfObject hooks(String program) {
        return Bpf.load("hooks.bpf.o", loader -> loader.program(program, p -> p.withAutoload(true)));
    }

    /** Pairs of thread and process. */
    private static Set<Long> tasks(IteratorLink link) throws IOException {
        Set<Long> tasks = new HashSet<>();
        try (InputStream in = link.open()) {
            ByteBuffer bytes = Bpf.buffer(in.readAllBytes());
            assertThat(bytes.remaining() % 8).isZero();
            while (bytes.hasRemaining()) {
                tasks.add(bytes.getLong());
            }
        }
        return tasks;
    }

    private static long processesOf(Set<Long> tasks) {
        return tasks.stream().map(t -> t >>> 32).distinct().count();
    }

    /** The numbers that a folder below /proc has: of processes, or of threads. */
    private static Set<String> numbers(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.matches("\\d+"))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    @Test
    void allTasks() throws IOException {
        try (BpfObject object = hooks("each_task");
                IteratorLink link = object.program("each_task").attach(Iter.all())) {
            assertThat(link.info().typeNumber()).as("BPF_LINK_TYPE_ITER").isEqualTo(4);
            assertThat(link.info().detail()).isEqualTo(new LinkDetail.Iter("task", 0));
            assertHasAllProcesses(link);
            assertHasAllProcesses(link); // each stream runs the program anew
        }
    }

    /** Processes come and go meanwhile; those that are there before and after are in between, too. */
    private static void assertHasAllProcesses(IteratorLink link) throws IOException {
        Set<String> there = numbers(Path.of("/proc"));
        Set<Long> tasks = tasks(link);
        there.retainAll(numbers(Path.of("/proc")));
        there.remove("1"); // there are kernels that hide it from BPF programs, whoever loads them
        if (Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).endsWith(INITIAL_PID_NAMESPACE)) {
            assertThat(tasks.stream().map(task -> Long.toString(task >>> 32))).containsAll(there);
        } else {
            // The numbers in another namespace are not those of the kernel.
            assertThat(processesOf(tasks)).isGreaterThanOrEqualTo(there.size());
        }
        assertThat(tasks).allSatisfy(task -> {
            assertThat(task.intValue()).as("thread").isPositive();
            assertThat(task >>> 32).as("process").isPositive();
        });
    }

    @Test
    void bySection() throws IOException {
        try (BpfObject object = hooks("each_task");
                Link link = object.program("each_task").attach()) {
            assertThat(link).isInstanceOf(IteratorLink.class);
            assertThat(tasks((IteratorLink) link)).isNotEmpty();
        }
    }

    @Test
    @Requires(ITER_OF_PROCESS)
    void theThreadsOfOneProcess() throws Exception {
        int pid = Math.toIntExact(ProcessHandle.current().pid());
        try (BpfObject object = hooks("each_task");
                IteratorLink link = object.program("each_task").attach(Iter.process(pid))) {
            // Threads of the JVM come and go, and the kernel's list ends at one that goes while it is looked at.
            Await.until("all threads that are there before and after", () -> {
                Set<String> before = numbers(Path.of("/proc/self/task"));
                Set<Long> tasks = tasks(link);
                Set<String> after = numbers(Path.of("/proc/self/task"));
                Set<String> all = new TreeSet<>(before);
                all.addAll(after);
                before.retainAll(after);
                assertThat(tasks).hasSizeLessThanOrEqualTo(2 * all.size());
                assertThat(processesOf(tasks)).isEqualTo(1);
                return tasks.size() >= before.size();
            });
        }
        try (BpfObject object = hooks("each_task");
                IteratorLink link = object.program("each_task").attach(Iter.thread(pid))) {
            assertThat(tasks(link)).hasSize(1);
        }
    }

    /** More than the kernel's buffer holds, so that one read is not all. */
    @Test
    @Requires(ITER_OF_ELEMENTS)
    void theElementsOfAMap() throws IOException {
        try (BpfObject object = hooks("each_element");
                IteratorLink link = object.program("each_element").attach(Iter.elements(object.map("numbers")))) {
            Map<Integer, Long> expected = new HashMap<>();
            TypedMap<Integer, Long> numbers = TypedMap.of(object.map("numbers"), Codec.ofInt(), Codec.ofLong());
            for (int i = 0; i < 9_000; i++) {
                numbers.put(i, i * 3L);
                expected.put(i, i * 3L);
            }
            assertThat(link.info().detail())
                    .isEqualTo(new LinkDetail.Iter(
                            "bpf_map_elem", object.map("numbers").id()));
            Map<Integer, Long> found = new HashMap<>();
            byte[] element = new byte[16];
            try (InputStream in = link.open();
                    DataInputStream data = new DataInputStream(in)) {
                for (int i = 0; i < 9_000; i++) {
                    data.readFully(element);
                    found.put(Bpf.buffer(element).getInt(0), Bpf.buffer(element).getLong(8));
                }
                assertThat(in.read()).isEqualTo(-1);
                assertThat(in.read(element)).isEqualTo(-1);
            }
            assertThat(found).isEqualTo(expected);
        }
    }

    @Test
    void aStreamOutlivesItsLinkAndObjectAndEndsWhenItIsClosed() throws IOException {
        InputStream in;
        try (BpfObject object = hooks("each_task");
                IteratorLink link = object.program("each_task").attach(Iter.all())) {
            in = link.open();
        }
        assertThat(in.readNBytes(8)).hasSize(8);
        in.close();
        in.close();
        assertThatThrownBy(in::readAllBytes).isInstanceOf(IOException.class);
    }

    @Test
    @Requires(ITER_OF_ELEMENTS)
    void anIteratorOverElementsNeedsAMap() {
        try (BpfObject object = hooks("each_element")) {
            assertThatThrownBy(() -> object.program("each_element").attach(Iter.all()))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("requires a target");
            assertThatThrownBy(() -> object.program("each_element").attach(Iter.elements(object.map("sockets"))))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("sockets");
        }
    }
}
