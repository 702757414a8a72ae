package io.bpf4j.trace.catalog;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The catalog that bpf4j has: the files in the resources beside this class. They are listed, as a jar has no folders. */
final class BuiltInCatalog {
    static final List<String> FILES = List.of(
            "hotspot.probes",
            "hotspot_jni.probes",
            "postgresql.probes",
            "python.probes",
            "libstdcxx.probes",
            "ruby.probes",
            "php.probes",
            "node.probes",
            "mysql.probes",
            "glibc.probes",
            "libvirt.probes",
            "qemu.probes");

    static final Catalog CATALOG = read();

    private BuiltInCatalog() {}

    private static Catalog read() {
        List<ProbeSignature> probes = new ArrayList<>();
        List<ReadyQuestion> questions = new ArrayList<>();
        for (String file : FILES) {
            Catalog catalog = Catalog.parse(file, text(file));
            probes.addAll(catalog.probes());
            questions.addAll(catalog.questions());
        }
        return new Catalog(probes, questions);
    }

    private static String text(String file) {
        try (InputStream in = BuiltInCatalog.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("the jar of bpf4j-trace lacks " + file);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
