package io.bpf4j.trace.catalog;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;

/**
 * The catalog that is part of bpf4j: the resource files of this package. The files are listed here because the contents
 * of a folder in a jar can't be listed. The list has the providers and groups of each file, so that only the needed
 * files are read.
 */
final class BuiltInCatalog {
    /** A file, the providers of its probes, and the groups of its questions. */
    record Resource(String file, Set<String> providers, Set<String> groups) {}

    static final List<Resource> RESOURCES = List.of(
            new Resource("hotspot.probes", Set.of("hotspot", "hs_private"), Set.of("jvm")),
            new Resource("hotspot_jni.probes", Set.of("hotspot_jni"), Set.of()),
            new Resource("postgresql.probes", Set.of("postgresql"), Set.of("postgres")),
            new Resource("python.probes", Set.of("python"), Set.of("python")),
            new Resource("libstdcxx.probes", Set.of("libstdcxx", "libgcc"), Set.of("cxx")),
            new Resource("ruby.probes", Set.of("ruby"), Set.of("ruby")),
            new Resource("php.probes", Set.of("php"), Set.of("php")),
            new Resource("node.probes", Set.of("node"), Set.of("node")),
            new Resource("mysql.probes", Set.of("mysql"), Set.of("mysql")),
            new Resource("glibc.probes", Set.of("libc", "libpthread", "rtld"), Set.of("libc")),
            new Resource("libvirt.probes", Set.of("libvirt"), Set.of()),
            new Resource("qemu.probes", Set.of("qemu"), Set.of("qemu")));

    static final Catalog CATALOG =
            new Catalog(RESOURCES.stream().map(BuiltInCatalog::part).toList());

    private BuiltInCatalog() {}

    private static CatalogPart part(Resource resource) {
        return CatalogPart.of(resource.providers(), resource.groups(), () -> read(resource.file()));
    }

    static CatalogPart.Entries read(String file) {
        return new CatalogParser(file).entries(text(file));
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
