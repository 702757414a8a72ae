package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.BpfException;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Objects with a few bits turned over, into the running kernel: it loads them, or the loader says why not in an
 * exception of its own. {@link LeakCheck} finds what stays open.
 */
@Requires(Requirement.BPF)
@ExtendWith(LeakCheck.class)
@Timeout(300)
class ChangedObjectsOnKernelTest {
    private static final long SEED = Long.getLong("bpf4j.test.seed", 20260103);
    private static final int ROUNDS = 25;

    /** What a map may take here; a bit of its size turned over would ask the kernel for gigabytes, and get them. */
    private static final long MOST_BYTES = 16 << 20;

    @Test
    void bitsTurnedOver() {
        // Pins would outlive the test, and the other byte order is refused at once.
        List<String> names = TestObjects.names().stream()
                .filter(name -> !name.startsWith("pinned") && !name.contains("_be."))
                .toList();
        Random random = new Random(SEED);
        int loaded = 0;
        int refused = 0;
        for (String name : names) {
            for (int round = 0; round < ROUNDS; round++) {
                byte[] bytes = TestObjects.bytes(name);
                for (int change = 0; change <= round % 3; change++) {
                    bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
                }
                if (loads(name, bytes)) {
                    loaded++;
                } else {
                    refused++;
                }
            }
        }
        assertThat(loaded).isGreaterThan(names.size());
        assertThat(refused).isGreaterThan(names.size());
    }

    private static boolean loads(String name, byte[] bytes) {
        try {
            ObjectSpec spec = ObjectSpec.parse(name, bytes);
            if (!spec.maps().stream().allMatch(ChangedObjectsOnKernelTest::isSmall)) {
                return false;
            }
            try (BpfObject object = BpfLoader.of(spec).load()) {
                return object.spec() != null;
            }
        } catch (MalformedDataException | BpfException e) {
            assertThat(e.getMessage()).isNotBlank();
            return false;
        }
    }

    private static boolean isSmall(MapSpec map) {
        long each = 64L + Integer.toUnsignedLong(map.keySize()) + Integer.toUnsignedLong(map.valueSize());
        return !map.pinByName() && Integer.toUnsignedLong(map.maxEntries()) <= MOST_BYTES / Math.min(each, MOST_BYTES);
    }
}
