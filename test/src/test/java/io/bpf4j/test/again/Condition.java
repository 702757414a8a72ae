package io.bpf4j.test.again;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Under which condition of the machine a round runs. */
enum Condition {
    /** As it is. */
    ALONE,
    /** Beside programs that take processors, memory and disk. */
    HOGS,
    /** On one processor. */
    ONE_CORE,
    /** With the lowest nice value, beside such programs. */
    NICE,
    /** Only when no other thread wants the processor, beside such programs, which leave a part of it. */
    IDLE,
    /** With a file system for /tmp that writes through to the disk. */
    SLOW_DISK;

    /** Of 15 rounds five are beside hogs, and so ten of thirty. */
    private static final List<Condition> TURN = List.of(
            ALONE, HOGS, ALONE, ONE_CORE, HOGS, ALONE, NICE, HOGS, ALONE, IDLE, HOGS, ALONE, SLOW_DISK, HOGS, ALONE);

    /** That of a round, counted from 0. */
    static Condition ofRound(int round) {
        return TURN.get(round % TURN.size());
    }

    static Condition named(String name) {
        return valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    /** As it is written on the command line. */
    String option() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** How many threads compute beside the tests, for so many processors; 0 for no hogs at all. */
    int threads(int processors) {
        return switch (this) {
            case ALONE, ONE_CORE, SLOW_DISK -> 0;
            case HOGS, NICE -> 2 * processors;
            case IDLE -> processors;
        };
    }

    /** How much of the time these threads compute. A thread of the idle class gets what they leave. */
    int percent() {
        return this == IDLE ? 70 : 100;
    }

    /** The command that runs the rest of the command line under this condition. */
    List<String> prefix(Path image) {
        return switch (this) {
            case ALONE, HOGS -> List.of();
            case ONE_CORE -> List.of("taskset", "--cpu-list", "0");
            case NICE -> List.of("nice", "-n", "19");
            case IDLE -> List.of("chrt", "--idle", "0");
            case SLOW_DISK -> slowDisk(image);
        };
    }

    /** A file system in a file, in a mount namespace of its own, so that it goes with the last process in it. */
    private static List<String> slowDisk(Path image) {
        String script = """
                truncate -s 4G "$0" && mkfs.ext4 -q -F "$0" && mount -o loop,sync,dirsync "$0" /tmp || exit 125
                rm "$0" && chmod 1777 /tmp && exec "$@"
                """;
        return new ArrayList<>(List.of("unshare", "--mount", "sh", "-c", script, image.toString()));
    }
}
