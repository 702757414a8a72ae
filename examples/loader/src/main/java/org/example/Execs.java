package org.example;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.loader.spec.ObjectSpec;
import java.io.InputStream;

/**
 * Counts the programs that are started while a command runs. Without a generated class: programs and maps are found by
 * their names.
 *
 * <pre>java -jar target/loader.jar COMMAND…</pre>
 */
public class Execs {
    record Name(@Codec.Length(16) String comm) {} // struct name; compared with it when the codec is made

    public static void main(String[] command) throws Exception {
        ObjectSpec spec;
        try (InputStream in = Execs.class.getResourceAsStream("execs.bpf.o")) {
            spec = ObjectSpec.parse("execs.bpf.o", in.readAllBytes());
        }
        try (BpfObject object = BpfLoader.of(spec)
                        .map("execs", map -> map.withMaxEntries(4096)) // what is loaded can be changed before
                        .load();
                Link link = object.program("started").attach()) {
            System.out.println("attached to " + link.info().detail());
            new ProcessBuilder(command).inheritIO().start().waitFor();
            TypedMap.of(object.map("execs"), object.codec(Name.class, "name"), Codec.ofLong())
                    .forEach((name, count) -> System.out.println(name.comm() + " " + count));
        }
    }
}
