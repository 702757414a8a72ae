package io.bpf4j.process;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.proc.Lines;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The number of the device, or file system, that a file is on.
 *
 * <p>Most file systems have one number, which stat(2) returns and {@code /proc/PID/maps} shows. But on btrfs stat
 * returns a number for each subvolume, and on overlay it may return the number of a layer; maps show the number of the
 * whole file system, or on older kernels the number of the layer, which is a file system of its own. The list of
 * mounts, proc_pid_mountinfo(5), has the number of the whole file system, and its type:
 *
 * <pre>
 *   36 35 0:45 / /var/lib rw,noatime shared:1 - btrfs /dev/sda1 rw
 * </pre>
 *
 * <p>Tested by {@code MapsLineTest} and {@code ProcessFilesTest}.
 */
final class Devices {
    private static final int MAX_LINE_BYTES = 1 << 14;
    private static final String ID = "mnt_id:";

    private Devices() {}

    /**
     * Whether maps may show this device for an open file, although stat returns another one.
     *
     * @param pid the process in whose mount namespace the file was opened
     * @param descriptor of the open file, in this process
     * @param shown the device that maps show
     */
    static boolean mayShow(Host host, int pid, int descriptor, long shown) throws IOException {
        String[] mount = {""};
        Lines.read(host.self().resolve("fdinfo/" + descriptor), MAX_LINE_BYTES, MAX_LINE_BYTES, (line, length) -> {
            String text = new String(line, 0, length, StandardCharsets.ISO_8859_1);
            if (text.startsWith(ID)) {
                mount[0] = text.substring(ID.length()).strip();
            }
            return mount[0].isEmpty();
        });
        boolean[] isPossible = {false};
        Path mounts = host.process(pid).resolve("mountinfo");
        Lines.read(mounts, MAX_LINE_BYTES, ProcessLimits.MAX_MOUNTS_BYTES, (line, length) -> {
            String[] fields = new String(line, 0, length, StandardCharsets.ISO_8859_1).split(" ", -1);
            if (fields.length < 3 || !fields[0].equals(mount[0])) {
                return true;
            }
            isPossible[0] = isDevice(fields[2], shown) || isOverlay(fields);
            return false;
        });
        return isPossible[0];
    }

    private static boolean isDevice(String text, long shown) {
        int colon = text.indexOf(':');
        try {
            return colon > 0
                    && shown
                            == FileIdentity.device(
                                    Long.parseLong(text.substring(0, colon)),
                                    Long.parseLong(text.substring(colon + 1)));
        } catch (NumberFormatException e) {
            return false; // a line of another form, which a file system in the place of /proc may have
        }
    }

    /** The type follows the only field that is a dash; blanks in names are escaped. */
    private static boolean isOverlay(String[] fields) {
        for (int i = 6; i + 1 < fields.length; i++) {
            if (fields[i].equals("-")) {
                return fields[i + 1].equals("overlay");
            }
        }
        return false;
    }
}
