package io.bpf4j.loader.internal.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.error.InvalidObjectException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Formats of programs, lines of records, and damage in both. */
class LogFormatTest {
    /** Each argument is a number, or a text with its bytes. */
    private static MemorySegment record(Object... arguments) {
        ByteBuffer record = ByteBuffer.allocate(LogFormat.ARGUMENTS + arguments.length * 72)
                .order(ByteOrder.nativeOrder())
                .position(LogFormat.ARGUMENTS);
        for (Object argument : arguments) {
            if (argument instanceof String text) {
                byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
                record.putLong(bytes.length + 1).put(Arrays.copyOf(bytes, 64));
            } else {
                record.putLong(((Number) argument).longValue());
            }
        }
        return MemorySegment.ofArray(record.array());
    }

    private static String line(String format, Object... arguments) {
        List<Boolean> isText =
                Arrays.stream(arguments).map(String.class::isInstance).toList();
        return LogFormat.parse(0, 3, format, isText).line(record(arguments), 0);
    }

    /** What printf of the C library writes. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '"',
            value = {
                "%d;-5;-5",
                "%u;-5;4294967291",
                "%i;4294967295;-1",
                "%lld;-5;-5",
                "%llu;-5;18446744073709551611",
                "%hhd;511;-1",
                "%hhu;511;255",
                "%hd;65535;-1",
                "%x;-1;ffffffff",
                "%lx;-1;ffffffffffffffff",
                "%X;48879;BEEF",
                "%#x;48879;0xbeef",
                "%#x;0;0",
                "%#o;8;010",
                "%+d;5;+5",
                "\"[% d]\";5;[ 5]",
                "[%5d];-5;\"[   -5]\"",
                "[%-5d];-5;\"[-5   ]\"",
                "[%05d];-5;[-0005]",
                "[%-05d];5;\"[5    ]\"",
                "[%.3d];5;[005]",
                "[%6.3d];-5;\"[  -005]\"",
                "[%06.3d];5;\"[   005]\"",
                "[%.0d];0;[]",
                "[%#8x];255;\"[    0xff]\"",
                "[%#08x];255;[0x0000ff]",
                "%c;65;A",
                "%p;4096;0x1000",
                "%zu;-1;18446744073709551615",
                "%d%%;7;7%",
            })
    void numbers(String format, long value, String expected) {
        assertThat(line(format, value)).isEqualTo(expected);
    }

    @Test
    void textsAndAddresses() {
        assertThat(line("[%s] [%.2s] [%6s] [%-6s]", "abc", "abc", "abc", "abc"))
                .isEqualTo("[abc] [ab] [   abc] [abc   ]");
        assertThat(line("%pks and %pus\n", "kernel", "user")).isEqualTo("kernel and user");
        int address = ByteBuffer.wrap(new byte[] {(byte) 192, 0, 2, 1})
                .order(ByteOrder.nativeOrder())
                .getInt();
        assertThat(line("from %pI4", address)).isEqualTo("from 192.0.2.1");
        assertThat(line("%s", "two\nlines\u001b[31m")).isEqualTo("two\\x0alines\\x1b[31m");
        assertThat(line("%s", "a\u202eb\u2028c\u009b\ud83d\ude00")).isEqualTo("a\\u{202e}b\\u{2028}c\\x9b\ud83d\ude00");
        assertThat(line("nothing")).isEqualTo("nothing");
    }

    @Test
    void aTextThatCouldNotBeRead() {
        MemorySegment record = record("");
        record.set(ValueLayout.JAVA_LONG_UNALIGNED, LogFormat.ARGUMENTS, -14);
        assertThat(LogFormat.parse(0, 3, "%s", List.of(true)).line(record, 0))
                .isEqualTo("(unreadable: EFAULT (Bad address))");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "%d;;more conversions than the 0 arguments",
                "x;n;0 conversions, but there are 1 arguments",
                "%s;n;%s is for text, but argument 1 is a number",
                "%d %d;nt;%d is for a number, but argument 2 is text",
                "%f;n;not a conversion of bpf4j_log",
                "%;;not a conversion of bpf4j_log",
                "%n;n;not a conversion of bpf4j_log",
                "%pI6;n;not a conversion of bpf4j_log",
                "%*d;n;not a conversion of bpf4j_log",
                "%999d;n;width or precision of 999",
                "%.99999999999d;n;width or precision of 99999999999",
            })
    void formatsThatDoNotFitAreRefused(String format, @Nullable String kinds, String message) {
        List<Boolean> isText = kinds == null
                ? List.of()
                : kinds.chars().mapToObj(kind -> kind == 't').toList();
        assertThatThrownBy(() -> LogFormat.parse(0, 3, format, isText))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining('"' + format + '"')
                .hasMessageContaining(message);
    }

    private static ByteBuffer section(int number, int level, int arguments, String text) {
        return ByteBuffer.allocate(128)
                .order(ByteOrder.nativeOrder())
                .putInt(number)
                .put((byte) level)
                .put((byte) arguments)
                .put(new byte[] {1, 1, 1, 1, 1, 1, 1, 1})
                .position(16)
                .put(text.getBytes(StandardCharsets.UTF_8))
                .rewind();
    }

    private static ByteBuffer both(ByteBuffer one, ByteBuffer other) {
        return ByteBuffer.allocate(256)
                .order(ByteOrder.nativeOrder())
                .put(one)
                .put(other)
                .rewind();
    }

    @Test
    void theFormatsOfASection() {
        LogFormats formats = LogFormats.read(both(section(4, 2, 1, "a %d"), section(9, 5, 0, "b")));
        assertThat(Objects.requireNonNull(formats.get(4)).level()).isEqualTo(2);
        assertThat(Objects.requireNonNull(formats.get(4)).size()).isEqualTo(40);
        assertThat(formats.get(5)).isNull();
        assertThatThrownBy(() -> LogFormats.read(both(section(4, 2, 1, "a %d"), section(4, 5, 0, "b"))))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("\"a %d\" and \"b\"")
                .hasMessageContaining("BPF4J_LOG_FIRST");
        assertThatThrownBy(() -> LogFormats.read(section(4, 2, 9, "x")))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("has 9 arguments");
        assertThatThrownBy(() -> LogFormats.read(section(4, 0, 0, "x"))).hasMessageContaining("level 0");
        assertThatThrownBy(() -> LogFormats.read(ByteBuffer.allocate(127))).hasMessageContaining("127 bytes");
    }

    /** Whatever the bytes of a record are, they make a line that is not longer than its arguments allow. */
    @Test
    void anyRecordMakesALine() {
        Random random = new Random(4711);
        LogFormat format = LogFormat.parse(
                0,
                3,
                "%s %d %128.128d %llx %c %p %pI4 %s",
                List.of(true, false, false, false, false, false, false, true));
        byte[] bytes = new byte[format.size()];
        for (int i = 0; i < 10_000; i++) {
            random.nextBytes(bytes);
            MemorySegment record = MemorySegment.ofArray(bytes);
            String line = format.line(record, 0) + LogFormat.function(record, 0);
            assertThat(line).hasSizeLessThan(1000).doesNotContainPattern("\\p{Cntrl}");
        }
    }

    /** A damaged section is read, or refused with the reason. */
    @Test
    void anySectionIsReadOrRefused() {
        byte[] whole =
                both(section(4, 2, 1, "a %5.3llx"), section(9, 5, 0, "b%%")).array();
        List<String> messages = new ArrayList<>();
        for (int bit = 0; bit < whole.length * 8; bit++) {
            byte[] changed = whole.clone();
            changed[bit / 8] ^= (byte) (1 << bit % 8);
            try {
                LogFormats.read(ByteBuffer.wrap(changed).order(ByteOrder.nativeOrder()));
            } catch (InvalidObjectException e) {
                messages.add(String.valueOf(e.getMessage()));
            }
        }
        assertThat(messages).isNotEmpty().allMatch(message -> message.contains("bpf4j_log"));
    }
}
