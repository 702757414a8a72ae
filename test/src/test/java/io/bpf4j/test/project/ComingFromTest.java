package io.bpf4j.test.project;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Every class and member that {@code docs/coming-from.md} names in a column {@code bpf4j} is in the listings of the
 * public API, and every symbol of libbpf is on the page.
 */
class ComingFromTest {
    private static final Path DOCS =
            TargetProgram.testModule().resolve("../docs").normalize();

    private static final String COLUMN = "bpf4j";
    private static final Pattern CODE = Pattern.compile("`([^`]*)`");
    private static final Pattern WORD = Pattern.compile("\\w+");
    private static final Pattern SEPARATOR = Pattern.compile("-+");

    /** A type's line in a listing, without type parameters: its name, and what it extends and implements. */
    private static final Pattern TYPE = Pattern.compile(".*\\b(?:class|interface) (io\\.bpf4j\\S+)(.*)\\{");

    private static final Pattern TYPE_PARAMETERS = Pattern.compile("<[^<>]*>");
    private static final Pattern OWN_TYPE = Pattern.compile("io\\.bpf4j[\\w.$]+");

    /** A method's name before its parameters, or else a constant's name at the end. */
    private static final Pattern MEMBER = Pattern.compile("(\\w+)(?:\\(|;$)");

    /** A row of a table; cells are numbered from 0, lines from 1. */
    private record Row(int line, int column, int width, List<String> cells) {
        String cell() {
            return cells.get(column);
        }

        Stream<String> spans() {
            return spans(cell());
        }

        static Stream<String> spans(String cell) {
            return CODE.matcher(cell).results().map(span -> span.group(1));
        }
    }

    /** The public API by the names that Java code has for types: {@code Outer.Inner}. */
    private record Api(Map<String, Set<String>> members, Map<String, Set<String>> supertypes) {
        boolean has(String span) {
            int dot = span.lastIndexOf('.');
            return members.containsKey(span) || (dot > 0 && hasMember(span.substring(0, dot), span.substring(dot + 1)));
        }

        private boolean hasMember(String type, String member) {
            return members.getOrDefault(type, Set.of()).contains(member)
                    || supertypes.getOrDefault(type, Set.of()).stream()
                            .anyMatch(supertype -> hasMember(supertype, member));
        }
    }

    @Test
    void whatThePageNamesIsPublic() throws IOException {
        List<String> page = Files.readAllLines(DOCS.resolve("coming-from.md"));
        assertThat(problems(page, listings())).isEmpty();
        assertThat(rows(page)).hasSizeGreaterThan(150);
        assertThat(rows(page).stream().flatMap(Row::spans)).hasSizeGreaterThan(300);
    }

    /** A name of libbpf has a row, or the page says why it has none. */
    @Test
    void everySymbolOfLibbpfIsNamed() throws IOException {
        Set<String> names = new HashSet<>();
        List<Pattern> patterns = new ArrayList<>();
        for (Row row : rows(Files.readAllLines(DOCS.resolve("coming-from.md")))) {
            for (String span : Row.spans(row.cells().getFirst()).toList()) {
                WORD.matcher(span).results().map(MatchResult::group).forEach(names::add);
                if (span.endsWith("*")) {
                    patterns.add(Pattern.compile(Pattern.quote(span.replace("*", "")) + "\\w+"));
                }
            }
        }
        List<String> symbols;
        try (InputStream list = ComingFromTest.class.getResourceAsStream("libbpf-1.8.txt")) {
            symbols = new String(Objects.requireNonNull(list).readAllBytes(), StandardCharsets.US_ASCII)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .toList();
        }
        assertThat(symbols)
                .hasSizeGreaterThan(350)
                .allSatisfy(symbol -> assertThat(names.contains(symbol)
                                || patterns.stream()
                                        .anyMatch(pattern ->
                                                pattern.matcher(symbol).matches()))
                        .as(symbol)
                        .isTrue());
    }

    @Test
    void whatIsWrongIsReportedWithItsLine() throws IOException {
        List<String> page = """
                | libbpf | bpf4j |
                |---|---|
                | `a` | `BpfLoader.load`, `RingBuffer.poll`, `TestRun.Result.nanos`, `UpdateMode.ANY`, `MapInfo` |
                | `no_such_member` | `BpfLoader.load`, `BpfLoader.loadIt` |
                | `no_such_type` | `BpfLoaders` |
                | `not its own member` | `BpfLoader.close` |
                | `empty` |  |
                | `too many` | `BpfLoader` | |

                | libbpf | other |
                |---|---|
                | `no column` | `BpfLoader` |
                """.lines().toList();
        assertThat(problems(page, listings()))
                .containsExactly(
                        "line 4: BpfLoader.loadIt is not in docs/api",
                        "line 5: BpfLoaders is not in docs/api",
                        "line 6: BpfLoader.close is not in docs/api",
                        "line 7: no cell bpf4j",
                        "line 8: 3 cells in a table of 2",
                        "line 12: no cell bpf4j");
    }

    private static List<String> problems(List<String> page, Api api) {
        List<String> problems = new ArrayList<>();
        for (Row row : rows(page)) {
            String line = "line " + row.line() + ": ";
            if (row.cells().size() != row.width()) {
                problems.add(line + row.cells().size() + " cells in a table of " + row.width());
            } else if (row.column() < 0 || row.cell().isEmpty()) {
                problems.add(line + "no cell " + COLUMN);
            } else {
                row.spans()
                        .filter(span -> !api.has(span))
                        .forEach(span -> problems.add(line + span + " is not in docs/api"));
            }
        }
        return problems;
    }

    /** The rows of all tables, without their heads. */
    private static List<Row> rows(List<String> page) {
        List<Row> rows = new ArrayList<>();
        List<String> head = List.of();
        for (int i = 0; i < page.size(); i++) {
            String line = page.get(i).strip();
            if (!line.startsWith("|")) {
                head = List.of();
                continue;
            }
            List<String> cells = Arrays.stream(
                            line.substring(1).replaceFirst("\\|$", "").split("\\|", -1))
                    .map(String::strip)
                    .toList();
            if (head.isEmpty()) {
                head = cells;
            } else if (!cells.stream().allMatch(SEPARATOR.asMatchPredicate())) {
                rows.add(new Row(i + 1, head.indexOf(COLUMN), head.size(), cells));
            }
        }
        return rows;
    }

    private static Api listings() throws IOException {
        Api api = new Api(new HashMap<>(), new HashMap<>());
        List<Path> files;
        try (Stream<Path> all = Files.list(DOCS.resolve("api"))) {
            files = all.toList();
        }
        for (Path file : files) {
            String type = "";
            for (String line : Files.readAllLines(file)) {
                Matcher start = TYPE.matcher(withoutTypeParameters(line));
                Matcher member = MEMBER.matcher(line);
                if (start.matches()) {
                    type = nameInCode(start.group(1));
                    api.members().computeIfAbsent(type, _ -> new HashSet<>());
                    Set<String> supertypes = api.supertypes().computeIfAbsent(type, _ -> new HashSet<>());
                    OWN_TYPE.matcher(start.group(2))
                            .results()
                            .map(MatchResult::group)
                            .map(ComingFromTest::nameInCode)
                            .forEach(supertypes::add);
                } else if (member.find()) {
                    api.members().computeIfAbsent(type, _ -> new HashSet<>()).add(member.group(1));
                }
            }
        }
        return api;
    }

    private static String withoutTypeParameters(String line) {
        String shorter = TYPE_PARAMETERS.matcher(line).replaceAll("");
        return shorter.equals(line) ? line : withoutTypeParameters(shorter);
    }

    /** {@code Outer.Inner} for {@code io.bpf4j.loader.Outer$Inner}. */
    private static String nameInCode(String binaryName) {
        return binaryName.substring(binaryName.lastIndexOf('.') + 1).replace('$', '.');
    }
}
