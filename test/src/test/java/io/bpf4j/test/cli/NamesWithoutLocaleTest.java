package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.MOUNT_NAMESPACES;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Names in files are bytes, also where the command runs in an empty environment: without a locale, a Java string that
 * is not ASCII is not a path. A shell makes the names, whatever the locale of this test is.
 */
@Requires({GCC, SDT_H, ASSEMBLER})
class NamesWithoutLocaleTest {
    @TempDir
    Path folder;

    /** {@code $0} of the script is the folder, {@code $1} the program with probes; its further arguments follow. */
    private Commands.Result run(String script, List<String> more, String... before)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(Arrays.asList(before));
        command.addAll(List.of(
                "sh",
                "-ec",
                "cd \"$0\"; " + script,
                folder.toString(),
                TargetProgram.compile("-O2").toString()));
        command.addAll(more);
        return Commands.run(command);
    }

    private static List<String> withoutLocale(String... arguments) {
        List<String> command = new ArrayList<>(List.of("env", "-i"));
        command.addAll(Cli.command(arguments));
        return command;
    }

    @Test
    void aDebugFileIsFound() throws IOException, InterruptedException {
        for (String name : List.of("d\\377bug", "d\\303\\251bug")) {
            Commands.Result result = run(
                    "name=$(printf '" + name + "'); cp \"$1\" program; objcopy --only-keep-debug program \"$name\";"
                            + " objcopy --remove-section=.note.stapsdt --remove-section=.note.gnu.build-id program;"
                            + " objcopy --add-gnu-debuglink=\"$name\" program; shift; exec \"$@\"",
                    withoutLocale("list", folder.resolve("program").toString()));
            assertThat(result.err())
                    .contains("no USDT probes in " + folder, "notes were stripped into " + folder + "/d")
                    .contains(name.contains("377") ? "/d\\xffbug;" : "bug;")
                    .doesNotContain("Exception");
        }
    }

    /** One library with such a name in the loader's cache, and the others, which come before and after it. */
    @Test
    @Requires(MOUNT_NAMESPACES)
    void librariesAreFoundByName() throws IOException, InterruptedException {
        for (String library : List.of("libplain.so.1", "libbytes.so.1")) {
            Commands.Result result = run(
                    "bytes=$(printf 'b\\377\\303\\251'); mkdir -p \"$bytes\" plain;"
                            + " for each in \"$bytes\"/libbytes plain/libplain; do"
                            + "   echo | gcc -shared -Wl,-soname,\"${each#*/}\".so.1 -x c - -o \"$each\".so.1;"
                            + " done;"
                            + " printf 'include /etc/ld.so.conf\\n%s\\n%s\\n' \"$PWD/$bytes\" \"$PWD/plain\" > conf;"
                            // It warns of libraries that are just being installed.
                            + " /sbin/ldconfig -X -f conf -C cache 2>warnings;"
                            // The whole directory: the kernel would undo a mount on the file when ldconfig replaces it.
                            // Other programs may remove files while they are copied.
                            + " mkdir -p etc; cp -a /etc/. etc 2>warnings || true;"
                            + " cp cache etc/ld.so.cache; mount --bind etc /etc;"
                            + " shift; exec \"$@\"",
                    withoutLocale("list", library), "unshare", "-m");
            assertThat(Cli.oneLine(result, 1))
                    .contains("no USDT probes in " + folder)
                    .contains(library);
        }
    }

    /** Java has other arguments then: the command would run with them, and no text would be equal. */
    @Test
    void anArgumentThatWouldBeAnotherIsRefused() throws IOException, InterruptedException {
        for (String argument : List.of("--where=arg0 == \\303\\251", "-c./program \\303\\251")) {
            Commands.Result result = run(
                    "made=$(printf -- '" + argument + "'); shift; exec \"$@\" \"$made\"",
                    withoutLocale("count", "a:b"));
            assertThat(result.exitCode()).isEqualTo(2);
            assertThat(result.err()).startsWith("bpf4j: '" + argument.charAt(0)).contains("set LC_ALL=C.UTF-8\n");
        }
    }
}
