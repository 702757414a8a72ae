package org.example;

import io.bpf4j.loader.Maps;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.MapAccess;
import io.bpf4j.sys.Descriptor;

/**
 * The part with rights, for readers that it has not started: hands the map to each process that connects to a socket.
 * They can read it, and not write it. Runs until it is ended.
 *
 * <pre>
 * java --enable-native-access=ALL-UNNAMED -cp target/privileged-loader.jar org.example.Server /run/switches
 * java --enable-native-access=ALL-UNNAMED -cp target/privileged-loader.jar org.example.Reader /run/switches
 * </pre>
 */
public class Server {
    public static void main(String[] args) throws Exception {
        try (Switches switches = Switches.open().load();
                Link _ = switches.switched().attach();
                BpfMap readOnly = Maps.byId(switches.object().map("switches").id(), MapAccess.READ_ONLY);
                Descriptor descriptor = readOnly.descriptor();
                UnixSocket socket = UnixSocket.listen(args[0])) {
            System.out.println("serving " + args[0]);
            while (true) {
                socket.sendToNext(descriptor.number());
            }
        }
    }
}
