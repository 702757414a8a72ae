package io.bpf4j.maven;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** The headers in the artifact {@code bpf4j-headers}, which the compiler needs as files. */
final class Headers {
    private static final String FOLDER = "bpf4j/";

    private Headers() {}

    /**
     * Writes the headers that differ from the existing files.
     *
     * @param folder for the option {@code -I}
     */
    static Path unpack(Path folder) throws IOException {
        URL one = Headers.class.getResource("/" + FOLDER + "helpers.h");
        if (one == null || !(one.openConnection() instanceof JarURLConnection connection)) {
            throw new FileNotFoundException("the plugin's jar of headers, bpf4j-headers: " + one);
        }
        // Maven may build many projects at the same time: each opens and closes the jar for itself.
        connection.setUseCaches(false);
        try (JarFile jar = connection.getJarFile()) {
            List<JarEntry> headers = jar.stream()
                    .filter(entry -> entry.getName().startsWith(FOLDER) && !entry.isDirectory())
                    .toList();
            for (JarEntry header : headers) {
                Path file = folder.resolve(header.getName());
                try (InputStream in = jar.getInputStream(header)) {
                    Changed.write(file, in.readAllBytes());
                }
            }
        }
        return folder;
    }
}
