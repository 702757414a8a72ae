package org.example;

import io.bpf4j.loader.Maps;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.TypedMap;
import java.nio.file.Files;
import java.nio.file.Path;

/** The part without rights: takes over the map that it has inherited, and reads it (Linux 5.19). */
public class Reader {
    public static void main(String[] args) throws Exception {
        Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("CapEff"))
                .forEach(System.out::println); // the capabilities of this process: none
        try (BpfMap map = Maps.takeOver(Integer.parseInt(args[0]))) {
            TypedMap<Integer, Long> switches = TypedMap.of(map, Codec.ofInt(), Codec.ofLong());
            long before = switches.get(0).orElseThrow();
            Thread.sleep(500);
            System.out.println(switches.get(0).orElseThrow() - before + " context switches in half a second");
        }
    }
}
