package io.bpf4j.test.support;

import io.bpf4j.cli.command.CommandTree;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.Interruption;
import io.bpf4j.elf.Bpf4jException;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;

/**
 * The command, or a program that uses the library, in a process that is refused a system call: {@code PROG_LOAD EPERM
 * trace …} or {@code OBJ_PIN ENOSPC journey FOLDER}; with two empty words it is refused
 * nothing. Ends as the command does, once nothing is open any more that it has opened.
 */
public final class RefusingMain {
    private RefusingMain() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (!arguments[0].isEmpty()) {
            Refusal.valueOf(arguments[0]).begin(Errno.valueOf(arguments[1]));
        }
        String[] rest = Arrays.copyOfRange(arguments, 2, arguments.length);
        Map<String, Integer> before = LeakCheck.open();
        int code = rest[0].equals("journey")
                ? journey(Path.of(rest[1]))
                : new CommandTree(Console.standard(), Interruption.ofProcess()).run(rest);
        LeakCheck.assertNothingMoreOpenThan(before);
        System.exit(code);
    }

    /**
     * Loads an object, one of whose maps is pinned as it asks for, and pins its programs; then takes the pins away.
     *
     * @param folder of a BPF file system
     */
    private static int journey(Path folder) {
        try (BpfObject object = Bpf.load("pinned.bpf.o", loader -> loader.pinDirectory(folder))) {
            try {
                Path programs = folder.resolve("programs");
                object.pinPrograms(programs);
                object.unpinPrograms(programs);
            } finally {
                object.unpinMaps(folder);
            }
            return CommandTree.OK;
        } catch (Bpf4jException e) {
            System.err.println("journey: " + e.getMessage());
            return CommandTree.FAILED;
        }
    }
}
