package io.bpf4j.loader.internal.log;

import io.bpf4j.elf.internal.text.CString;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The formats of an object by their numbers: the elements of section {@code .rodata.bpf4j_log} ({@code struct
 * bpf4j_log_format} of bpf4j/log.h). <i>Immutable.</i>
 *
 * <p>Tested by {@code LogFormatTest}.
 */
public final class LogFormats {
    private static final String SECTION = ".rodata.bpf4j_log";
    private static final int SIZE = 128;
    private static final int LEVEL = 4;
    private static final int COUNT = 5;
    private static final int KINDS = 6;
    private static final int MOST_ARGUMENTS = 8;
    private static final int TEXT = 16;
    private static final int IS_TEXT = 2;
    private static final int LOWEST_LEVEL = 5;

    private final Map<Integer, LogFormat> byNumber;

    private LogFormats(Map<Integer, LogFormat> byNumber) {
        this.byNumber = byNumber;
    }

    /**
     * The formats of an object.
     *
     * @throws InvalidObjectException if it has none, or one that is wrong
     */
    public static LogFormats of(ObjectSpec object) {
        DataSection section = object.maps().stream()
                .filter(MapSpec::isData)
                .flatMap(map -> map.data().stream())
                .filter(data -> data.name().equals(SECTION))
                .findFirst()
                .orElseThrow(() -> new InvalidObjectException(
                        "the object has no section " + SECTION + ": no program calls bpf4j_log of bpf4j/log.h"));
        return read(ByteBuffer.wrap(section.content()).order(object.order()));
    }

    static LogFormats read(ByteBuffer section) {
        Map<Integer, LogFormat> byNumber = new HashMap<>();
        Map<Integer, String> texts = new HashMap<>();
        if (section.limit() % SIZE != 0) {
            throw new InvalidObjectException("section " + SECTION + " has " + section.limit()
                    + " bytes, which is not a multiple of " + SIZE + ": its bpf4j/log.h is of another version");
        }
        for (int at = 0; at < section.limit(); at += SIZE) {
            int count = Byte.toUnsignedInt(section.get(at + COUNT));
            int level = Byte.toUnsignedInt(section.get(at + LEVEL));
            byte[] bytes = new byte[SIZE - TEXT];
            section.get(at + TEXT, bytes);
            String text = CString.of(bytes);
            if (count > MOST_ARGUMENTS || level < 1 || level > LOWEST_LEVEL) {
                throw new InvalidObjectException("the format of bpf4j_log \"" + text + "\" has " + count
                        + " arguments and level " + level + ": there are at most " + MOST_ARGUMENTS
                        + " arguments, and levels from 1 to " + LOWEST_LEVEL);
            }
            List<Boolean> isText = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                isText.add(section.get(at + KINDS + i) == IS_TEXT);
            }
            int number = section.getInt(at);
            LogFormat format = LogFormat.parse(number, level, text, isText);
            LogFormat other = byNumber.putIfAbsent(number, format);
            if (other != null && !other.equals(format)) {
                throw new InvalidObjectException("two formats of bpf4j_log have the number " + number + ": \""
                        + texts.get(number) + "\" and \"" + text
                        + "\"; files that are linked need different values of BPF4J_LOG_FIRST");
            }
            texts.put(number, text);
        }
        return new LogFormats(Map.copyOf(byNumber));
    }

    /** Null if there is none. */
    public @Nullable LogFormat get(int number) {
        return byNumber.get(number);
    }
}
