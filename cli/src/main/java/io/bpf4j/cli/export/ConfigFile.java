package io.bpf4j.cli.export;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.InputFile;
import io.bpf4j.cli.failure.OwnFile;
import io.bpf4j.cli.trace.Words;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Reads the file of the agent, which has a question on each line, with a shell's rules for words. A line that ends in a
 * backslash continues in the next one. A line whose first character is {@code #} is a comment.
 *
 * <p>Tested by {@code ConfigFileTest}.
 */
public final class ConfigFile {
    /** The maximum size of the file in bytes: some thousand questions. */
    static final int MAX_BYTES = 1 << 20;

    private ConfigFile() {}

    /**
     * Reads the questions.
     *
     * @param mistakes receives the errors of lines that can't be split into words
     * @throws CommandException if it is not a regular file, is too large or not UTF-8, or another user can change it:
     *     the agent reads data of programs with the rights of root, and everybody who asks for the metrics gets them
     */
    public static List<ConfigLine> read(Path file, Consumer<Mistake> mistakes) throws IOException {
        Path real = OwnFile.real(
                InputFile.check(file),
                OwnFile.user(),
                why -> new CommandException(file
                        + ": another user can change this file, which decides what the agent reads from programs: "
                        + why));
        byte[] bytes;
        try (InputStream in = Files.newInputStream(real)) {
            bytes = in.readNBytes(MAX_BYTES + 1);
        }
        if (bytes.length > MAX_BYTES) {
            throw new CommandException(file + ": larger than " + MAX_BYTES + " bytes");
        }
        try {
            return parse(
                    StandardCharsets.UTF_8
                            .newDecoder()
                            .decode(ByteBuffer.wrap(bytes))
                            .toString(),
                    mistakes);
        } catch (CharacterCodingException e) {
            throw new CommandException(file + ": is not text in UTF-8", e);
        }
    }

    static List<ConfigLine> parse(String text, Consumer<Mistake> mistakes) {
        List<ConfigLine> questions = new ArrayList<>();
        List<String> lines = text.lines().toList();
        int at = 0;
        while (at < lines.size()) {
            int first = at;
            StringBuilder question = new StringBuilder(lines.get(at++));
            if (question.toString().isBlank() || question.toString().strip().startsWith("#")) {
                continue;
            }
            while (continues(question)) {
                question.setLength(question.length() - 1);
                if (at == lines.size()) {
                    break;
                }
                question.append(lines.get(at++));
            }
            try {
                questions.add(new ConfigLine(first + 1, Words.split(question.toString())));
            } catch (IllegalArgumentException e) {
                mistakes.accept(new Mistake(first + 1, String.valueOf(e.getMessage())));
            }
        }
        return questions;
    }

    /** Whether the line ends in a backslash that no other backslash escapes. */
    private static boolean continues(CharSequence line) {
        int backslashes = 0;
        while (backslashes < line.length() && line.charAt(line.length() - 1 - backslashes) == '\\') {
            backslashes++;
        }
        return backslashes % 2 == 1;
    }
}
