package io.bpf4j.benchmarks;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** A loaded object and a program to attach it to, as the benchmark methods take them. <i>Confined.</i> */
@State(Scope.Thread)
@SuppressWarnings("NullAway.Init") // JMH sets the fields
public class Loaded {
    /** The object that the C harness loads too, with specs as libbpf 1.7 writes them. */
    static final String OBJECT = "args12.bpf.o";

    /** Its program. */
    static final String PROGRAM = "args12";

    @Param({"1", "10", "100", "1000", "10000", "50000"})
    public int sites;

    BpfObject object;
    Program program;
    Usdt usdt;
    Path target;

    @Setup
    public void load() throws IOException {
        target = Targets.withSites(sites);
        object = BpfLoader.of(ObjectSpec.parse(OBJECT, TestObjects.bytes(OBJECT)))
                .load();
        program = object.program(PROGRAM);
        usdt = Usdt.of(object);
        Path small = Targets.withSites(1);
        WarmUp.with(
                16,
                () -> usdt.attach(program, UsdtScan.ofFile(small).matching("bench:site"))
                        .close());
    }

    @TearDown
    public void unload() {
        object.close();
    }

    /** From the path to the link: opens the file, reads its notes, writes the specs, attaches. */
    UsdtLink attach() throws IOException {
        return checked(usdt.attach(program, UsdtScan.ofFile(target).matching("bench:site")));
    }

    UsdtLink checked(UsdtLink link) {
        if (link.siteCount() != sites) {
            throw new IllegalStateException(link.siteCount() + " sites attached, not " + sites);
        }
        return link;
    }

    /** For what attaches: closes the link after each shot, outside of the time measured. */
    public static class Attaching extends Loaded {
        UsdtLink link;

        @TearDown(Level.Invocation)
        public void detach() {
            link.close();
        }
    }

    /** For what attaches to probes that were found before. */
    public static class Found extends Attaching {
        private List<UsdtProbe> probes;

        @Setup
        public void find() throws IOException {
            probes = UsdtScan.ofFile(Targets.withSites(sites)).probes(); // JMH may call this before load()
        }

        UsdtLink attachFound() {
            return checked(usdt.attach(program, probes));
        }
    }

    /** For what detaches: attaches before each shot. */
    public static class Attached extends Loaded {
        UsdtLink link;

        @Setup(Level.Invocation)
        public void attachBefore() throws IOException {
            link = attach();
        }
    }
}
