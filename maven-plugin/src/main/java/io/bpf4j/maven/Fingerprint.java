package io.bpf4j.maven;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * The inputs of an output: a file with the SHA-256 of the command in its first line, and those of the files, with their
 * paths, in the others. Contents decide, not times: a checkout gives files new times, and an editor may keep old ones.
 */
final class Fingerprint {
    private Fingerprint() {}

    /**
     * Whether the command is the same, and each file still has the content that it had. False if the fingerprint is
     * damaged, or a file can't be read: then the output is made again.
     */
    static boolean isCurrent(Path fingerprint, String command) {
        try {
            return Files.isRegularFile(fingerprint) && isCurrent(Files.readAllLines(fingerprint), command);
        } catch (IOException | InvalidPathException e) {
            return false;
        }
    }

    private static boolean isCurrent(List<String> lines, String command) throws IOException {
        if (lines.isEmpty() || !lines.getFirst().equals(hash(command.getBytes(StandardCharsets.UTF_8)))) {
            return false;
        }
        for (String line : lines.subList(1, lines.size())) {
            int blank = line.indexOf(' ');
            if (blank < 0) {
                return false;
            }
            Path file = Path.of(line.substring(blank + 1));
            if (!Files.isRegularFile(file) || !hash(Files.readAllBytes(file)).equals(line.substring(0, blank))) {
                return false;
            }
        }
        return true;
    }

    static void write(Path fingerprint, String command, List<Path> files) throws IOException {
        List<String> lines = new ArrayList<>();
        lines.add(hash(command.getBytes(StandardCharsets.UTF_8)));
        for (Path file : files) {
            lines.add(hash(Files.readAllBytes(file)) + " " + file);
        }
        // Written at once, because a part of it, from a build that is killed, would name fewer files.
        Path whole = fingerprint.resolveSibling(fingerprint.getFileName() + ".new");
        Files.write(whole, lines);
        Files.move(whole, fingerprint, StandardCopyOption.REPLACE_EXISTING);
    }

    private static String hash(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
