package org.example;

import io.bpf4j.loader.link.Link;
import io.bpf4j.sys.Descriptor;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The part with rights: loads a program, attaches it, and starts a command without rights, which inherits the map. The
 * number of the map's descriptor is added to the command. When the command ends, so does the tracing. {@link Server} is
 * for readers that are not started by the loader.
 *
 * <pre>
 * java -jar target/privileged-loader.jar 'setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs \
 *     java --enable-native-access=ALL-UNNAMED -cp target/privileged-loader.jar org.example.Reader'
 * </pre>
 */
public class Loader {
    public static void main(String[] args) throws Throwable {
        try (Switches switches = Switches.open().load();
                Link _ = switches.switched().attach();
                Descriptor map = switches.object().map("switches").descriptor()) {
            map.makeInheritable();
            System.exit(system(args[0] + " " + map.number()) >> 8);
        }
    }

    /** system() of the C library runs a command in a shell: {@code ProcessBuilder} would close the descriptor. */
    @SuppressWarnings("restricted") // a native call of its own
    private static int system(String command) throws Throwable {
        MethodHandle system = Linker.nativeLinker()
                .downcallHandle(
                        Linker.nativeLinker().defaultLookup().findOrThrow("system"),
                        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            return (int) system.invokeExact(arena.allocateFrom(command));
        }
    }
}
