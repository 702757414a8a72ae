package io.bpf4j.trace.stack;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.Host;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/** Whatever a process writes into its list of compiled code, it is read, and an address has a name or none. */
class PerfMapFuzzTest {
    private static final String SEED_OF_PROPERTIES = "20261126";

    /** Mixed into jqwik's, which is a constant of the annotation. */
    private static final long SEED = Long.getLong("bpf4j.test.seed", 0);

    private static final String[] PARTS = {
        "1000",
        "1008",
        "2000",
        "0x2000",
        "7fffffffffffffff",
        "8000000000000000",
        "ffffffffffffffff",
        "0",
        "10",
        "0x10",
        "-1",
        "+1",
        " ",
        " ",
        " ",
        "\n",
        "\n",
        "\n",
        "\r",
        "\t",
        "name",
        "void Foo.bar(int)",
        "\0",
        "\u00e9",
        "x",
        "10000000000000000",
        "ffffffff",
        "_ZNSoMEEi",
        ";"
    };

    private static Path proc = Path.of("");
    private static Path list = Path.of("");

    @BeforeContainer
    static void makeProcess() throws IOException {
        proc = Files.createTempDirectory("bpf4j-perf-map");
        list = Files.createDirectories(proc.resolve("7/root/tmp")).resolve("perf-7.map");
        String user = "\t" + Files.getAttribute(proc, "unix:uid");
        Files.writeString(proc.resolve("7/status"), "Uid:" + user.repeat(4) + "\nNSpid:\t7\n");
    }

    @AfterContainer
    static void removeProcess() throws IOException {
        Files.deleteIfExists(list);
        for (String each : new String[] {"7/root/tmp", "7/root", "7/status", "7", ""}) {
            Files.delete(proc.resolve(each));
        }
    }

    @Property(tries = 1_000, seed = SEED_OF_PROPERTIES)
    void anyListIsRead(@ForAll("lists") byte[] text) throws IOException {
        Files.write(list, text);
        PerfMapFile file = new PerfMapFile(Host.running().withProc(proc), 7);
        assertThat(file.refresh()).isTrue();
        assertThat(file.problem()).isEmpty();
        for (long address : new long[] {0, 0x1000, 0x1007, 0x2010, Long.MAX_VALUE, Long.MIN_VALUE, -1}) {
            int found = file.functions().find(address);
            assertThat(found).isLessThan(file.functions().count());
            assertThat(found < 0 || !file.functions().name(found).isEmpty()).isTrue();
        }
    }

    @Provide
    Arbitrary<byte[]> lists() {
        return Arbitraries.randomValue(random -> list(new Random(random.nextLong() ^ SEED)));
    }

    private static byte[] list(Random random) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        for (int i = random.nextInt(40); i >= 0; i--) {
            if (random.nextInt(20) == 0) {
                text.write(random.nextInt(256));
            } else if (random.nextInt(3) == 0) {
                text.writeBytes((Long.toHexString(0x1000 + random.nextInt(0x1100)) + " "
                                + Integer.toHexString(random.nextInt(0x20)) + " f" + i + "\n")
                        .getBytes(StandardCharsets.UTF_8));
            } else {
                text.writeBytes(PARTS[random.nextInt(PARTS.length)].getBytes(StandardCharsets.UTF_8));
            }
        }
        return text.toByteArray();
    }
}
