package io.bpf4j.test.support;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.TestRun;
import io.bpf4j.sys.BpfException;
import java.nio.file.Path;

/**
 * What runs in a user namespace that has a BPF file system with rights delegated to it: tries to load an object without
 * and with them, and prints how that went.
 */
public final class TokenMain {
    private TokenMain() {}

    public static void main(String[] arguments) {
        try (BpfObject object = Bpf.load("test_runs.bpf.o")) {
            System.out.println("without: loaded " + object);
        } catch (BpfException e) {
            System.out.println("without: " + e.getMessage());
        }
        Path bpffs = Path.of(System.getenv("BPFFS"));
        try (BpfObject object =
                BpfLoader.of(Bpf.spec("test_runs.bpf.o")).token(bpffs).load()) {
            object.program("count").test(TestRun.onData(new byte[14]).withRepeat(3));
            object.pinMaps(bpffs);
            System.out.println("with: ran " + Bpf.u64(object, "runs") + " times, "
                    + object.programs().size() + " programs");
        } catch (BpfException e) {
            System.out.println("with: " + e.getMessage());
        }
    }
}
