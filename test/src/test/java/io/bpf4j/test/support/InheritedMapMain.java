package io.bpf4j.test.support;

import io.bpf4j.loader.Maps;
import io.bpf4j.loader.map.BpfMap;
import java.nio.charset.StandardCharsets;

/** Takes over a map that it has inherited by its number, and writes its name into the value of key 1, of 8 bytes. */
public final class InheritedMapMain {
    private InheritedMapMain() {}

    public static void main(String[] arguments) {
        try (BpfMap map = Maps.takeOver(Integer.parseInt(arguments[0]))) {
            byte[] value = new byte[8];
            byte[] name = map.name().getBytes(StandardCharsets.UTF_8);
            System.arraycopy(name, 0, value, 0, Math.min(value.length, name.length));
            map.update(Bpf.key(1), value);
        }
    }
}
