package io.bpf4j.sys.internal.proc;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.internal.linux.Kallsyms;
import io.bpf4j.test.fuzz.FuzzTarget;
import io.bpf4j.test.fuzz.Limits;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Any file of lines, of a status and of kernel symbols is read as another reader reads it, which splits the whole text;
 * a file of symbols with a line that is none is refused.
 */
class LinesFuzzTest extends FuzzTarget {
    private static final int LONGEST = 24;

    @Override
    protected List<byte[]> seeds() {
        return List.of(
                bytes(
                        "Name:\tjava\nState:\tS (sleeping)\nTgid:\t4711\nUid:\t1000\t1001\t1002\t1003\nNSpid:\t4711\t7\n"),
                bytes("Name:\tx\rTgid:\t1\nTgid:\t4711\n"),
                bytes("ffffffff81000000 T _stext\nffffffffc0a04000 t helper\t[some_module]\n0 d fops.llvm.6089\n"),
                bytes("ffffffff81000000 T same\nffffffff81000010 t same\n"));
    }

    @Override
    protected List<String> words() {
        return List.of("Tgid:", "Uid:\t", "NSpid:", "\n", "\r", "\t", " T same\n", " d same.llvm.1\n", "4294967296");
    }

    @Override
    protected Limits limits() {
        return Limits.USUAL.withExecutions(100);
    }

    @Override
    protected void read(byte[] input) throws IOException {
        Path folder = file("task");
        Files.createDirectories(folder);
        Path file = Files.write(folder.resolve("status"), input);
        String[] lines = new String(input, StandardCharsets.ISO_8859_1).split("\n", -1);
        lines(file, input.length, lines);
        status(StatusFile.read(folder), lines);
        symbols(new Kallsyms(file), lines);
    }

    private static void lines(Path file, int size, String[] lines) throws IOException {
        List<String> read = new ArrayList<>();
        boolean whole = Lines.read(file, LONGEST, size, (line, length) -> {
            read.add(new String(line, 0, length, StandardCharsets.ISO_8859_1));
            return true;
        });
        assertThat(whole).isTrue();
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < lines.length; i++) {
            if (i < lines.length - 1 || !lines[i].isEmpty()) {
                expected.add(lines[i].substring(0, Math.min(LONGEST, lines[i].length())));
            }
        }
        assertThat(read).isEqualTo(expected);
        if (size > 0) {
            assertThat(Lines.read(file, LONGEST, size - 1L, (_, _) -> true)).isFalse();
        }
    }

    private static void status(StatusFile status, String[] lines) {
        for (String name : List.of("Tgid", "Uid", "NSpid", "Name")) {
            String expected = "";
            for (String line : lines) {
                if (line.startsWith(name + ":")) {
                    expected = line.substring(name.length() + 1).strip();
                    break;
                }
            }
            assertThat(status.field(name)).isEqualTo(expected);
            Optional<Integer> last = status.lastNumber(name);
            for (int i = 0; i < 5; i++) {
                Optional<Integer> number = status.number(name, i);
                assertThat(number.isEmpty() || expected.contains(Integer.toUnsignedString(number.get())))
                        .isTrue();
            }
            assertThat(last.isEmpty() || expected.endsWith(Integer.toUnsignedString(last.get())))
                    .isTrue();
        }
    }

    private static void symbols(Kallsyms symbols, String[] lines) throws IOException {
        Map<String, Set<Long>> expected = new LinkedHashMap<>();
        boolean sound = true;
        for (String line : lines) {
            int blank = line.indexOf(' ');
            String digits = blank < 0 ? line : line.substring(0, blank);
            sound &= digits.chars().allMatch(c -> c < 0x80 && Character.digit(c, 16) >= 0) && line.length() <= 1 << 12;
            if (sound && blank > 0 && line.length() > blank + 3) {
                String name = line.substring(blank + 3);
                name = name.indexOf('\t') < 0 ? name : name.substring(0, name.indexOf('\t'));
                int suffix = line.charAt(blank + 1) == 'd' ? name.indexOf(".llvm.") : -1;
                name = suffix < 0 ? name : name.substring(0, suffix);
                long address = 0;
                for (int i = 0; i < digits.length(); i++) {
                    address = address << 4 | Character.digit(digits.charAt(i), 16);
                }
                expected.computeIfAbsent(name, _ -> new TreeSet<>()).add(address);
            }
        }
        Map<String, List<Long>> found;
        try {
            found = symbols.addresses(expected.keySet());
        } catch (IOException e) {
            assertThat(e).hasMessageContaining(symbols.file().toString());
            assertThat(sound).isFalse();
            return;
        }
        assertThat(sound).isTrue();
        assertThat(found.keySet()).isEqualTo(expected.keySet());
        found.forEach((name, addresses) -> {
            assertThat(addresses).as(name).hasSameSizeAs(expected.get(name));
            assertThat(new TreeSet<>(addresses)).as(name).isEqualTo(expected.get(name));
        });
    }

    @Override
    protected List<Growth> growths() {
        return List.of(
                new Growth("lines", count -> bytes("Name:\tx\n".repeat(count))),
                new Growth("numbers of a field", count -> bytes("Uid:" + "\t1000".repeat(count))),
                new Growth("addresses of one symbol", count -> {
                    StringBuilder text = new StringBuilder();
                    for (int i = 0; i < count; i++) {
                        text.append("ffffffff81").append(100_000 + i).append(" T same\n");
                    }
                    return bytes(text.toString());
                }));
    }
}
