package io.bpf4j.test.support;

import io.bpf4j.loader.Maps;
import io.bpf4j.loader.Pin;
import io.bpf4j.loader.Pins;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.MapAccess;
import io.bpf4j.sys.BpfException;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * Runs with fewer rights than the test. It lists a BPF file system, opens the map {@code shared} there with each {@link
 * MapAccess}, reads the value of key 1, and prints the results.
 */
public final class PinReaderMain {
    private PinReaderMain() {}

    public static void main(String[] arguments) {
        Path directory = Path.of(arguments[0]);
        for (Pin pin : Pins.in(directory)) {
            System.out.println(directory.relativize(pin.path()) + ": "
                    + pin.kind().map(Enum::name).orElse("")
                    + pin.problem().map(Object::toString).orElse(""));
        }
        for (MapAccess access : MapAccess.values()) {
            try (BpfMap map = Maps.pinned(directory.resolve("shared"), access)) {
                System.out.println(access + ": "
                        + HexFormat.of().formatHex(map.lookup(Bpf.key(1)).orElseThrow()));
            } catch (BpfException e) {
                System.out.println(access + ": " + e.getMessage());
            }
        }
    }
}
