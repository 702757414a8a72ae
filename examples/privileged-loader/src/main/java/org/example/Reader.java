package org.example;

import io.bpf4j.loader.Maps;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.TypedMap;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The part without rights (Linux 5.19): takes over the map that it has inherited, by the number of its descriptor, or
 * that it gets from {@link Server}, by the path of its socket; and reads it.
 */
public class Reader {
    public static void main(String[] args) throws Exception {
        Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("CapEff"))
                .forEach(System.out::println); // the capabilities of this process: none
        int number = args[0].startsWith("/") ? UnixSocket.receiveFrom(args[0]) : Integer.parseInt(args[0]);
        try (BpfMap map = Maps.takeOver(number)) {
            TypedMap<Integer, Long> switches = TypedMap.of(map, Codec.ofInt(), Codec.ofLong());
            long before = switches.get(0).orElseThrow();
            Thread.sleep(500);
            System.out.println(switches.get(0).orElseThrow() - before + " context switches in half a second");
        }
    }
}
