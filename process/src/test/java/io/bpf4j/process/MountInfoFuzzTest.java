package io.bpf4j.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.sys.Host;
import io.bpf4j.test.fuzz.FuzzTarget;
import io.bpf4j.test.fuzz.Limits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Any list of mounts has the device of a file or not, and has a place of control groups or not. */
class MountInfoFuzzTest extends FuzzTarget {
    private static final int PID = 7;
    private static final int DESCRIPTOR = 3;
    private static final long SHOWN = FileIdentity.device(0, 45);

    @Override
    protected List<byte[]> seeds() {
        return List.of(
                bytes("36 35 0:45 / /var/lib rw,noatime shared:1 - btrfs /dev/sda1 rw\n"),
                bytes("36 35 0:46 / / rw,relatime - overlay overlay rw,lowerdir=a,upperdir=b\n"),
                bytes("35 23 0:30 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n"),
                bytes(
                        "35 23 0:30 /a /mnt/a\\040b rw shared:9 master:2 - cgroup2 cgroup2 rw\n36 1 8:1 / / rw - ext4 x rw\n"));
    }

    @Override
    protected List<String> words() {
        return List.of(" - cgroup2 ", "\\040", "\\", "36 35 0:45 ", " - overlay ", "\n", " ", ":", "/");
    }

    @Override
    protected Limits limits() {
        return Limits.USUAL.withExecutions(100);
    }

    @Override
    protected void read(byte[] input) throws IOException {
        for (int i = 0; i < input.length; i++) {
            // The kernel prints strings, which end at a NUL.
            input[i] = input[i] == 0 ? (byte) '0' : input[i];
        }
        Path root = file("root");
        Path proc = root.resolve("proc");
        Path process = proc.resolve(Integer.toString(PID));
        Files.createDirectories(process);
        Files.createDirectories(proc.resolve("self/fdinfo"));
        Files.write(process.resolve("mountinfo"), input);
        Files.write(proc.resolve("self/mountinfo"), input);
        Files.write(proc.resolve("self/fdinfo/" + DESCRIPTOR), bytes("pos:\t0\nflags:\t0\nmnt_id:\t36\n"));
        Host host = Host.at(root);
        assertThat(Devices.mayShow(host, PID, DESCRIPTOR, SHOWN)).isIn(true, false);
        try {
            assertThat(ControlGroups.of(host).mount()).startsWithRaw(root);
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("no control groups of version 2");
        }
        // The same bytes as the number of the mount that a descriptor is of.
        Files.write(proc.resolve("self/fdinfo/" + DESCRIPTOR), input);
        assertThat(Devices.mayShow(host, PID, DESCRIPTOR, SHOWN)).isIn(true, false);
    }

    @Override
    protected List<Growth> growths() {
        return List.of(
                new Growth("mounts", count -> bytes("35 35 0:45 / /var/lib rw - btrfs /dev/sda1 rw\n".repeat(count))),
                new Growth(
                        "mounts of parts of the control groups",
                        count -> bytes("35 23 0:30 /a /mnt/a rw - cgroup2 cgroup2 rw\n".repeat(count))));
    }
}
