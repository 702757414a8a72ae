package io.bpf4j.test.project;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.JavaFiles;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * {@code docs/api/README.md} has a row for each public type of the listing beside it, and the users that the row names
 * exist and use the type: their text has its name, or that of a member that returns or takes it and is in the row.
 */
class PublicTypesTest {
    private static final Path CHECKOUT =
            TargetProgram.testModule().resolve("..").normalize();
    private static final Path API = CHECKOUT.resolve("docs/api");
    private static final Pattern ROW = Pattern.compile("\\| `(\\w+)` \\| [^`|]+ \\| ([^|]+) \\|");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern MEMBER = Pattern.compile("([A-Z]\\w+)\\.(?!md)(\\w+)");
    private static final Pattern COMMAND = Pattern.compile("bpf4j ([a-z])(\\w*)");
    private static final Pattern LISTED_TYPE =
            Pattern.compile("\\S.*?(?:class|interface) (io\\.bpf4j\\.[\\w.]+\\.)([\\w$]+).*");
    private static final Pattern LISTED_MEMBER = Pattern.compile("  .*?(\\w+)(?:\\(.*|;)");

    /** A row, with the heading of its module and that of its package. */
    private record Row(String module, String inPackage, String type, String users) {
        String name() {
            return module + " " + inPackage + "." + type;
        }
    }

    /** A module and a type that is not nested, such as {@code "elf io.bpf4j.elf.Symbol"}. */
    private final List<String> listed = new ArrayList<>();

    /** Names of the members of each type, by the type's name without its package. */
    private final Map<String, Set<String>> members = new HashMap<>();

    /** The Java files that may be users, by the name of the class; the command's once more under an empty name. */
    private final Map<String, List<Path>> sources = new HashMap<>();

    private final List<Row> rows = new ArrayList<>();

    PublicTypesTest() throws IOException {
        try (Stream<Path> files = Files.list(API)) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith(".txt")).toList()) {
                readListing(file);
            }
        }
        JavaFiles.in(CHECKOUT, "/src/").forEach(this::addSource);
        String module = "";
        String inPackage = "";
        for (String line : Files.readAllLines(API.resolve("README.md"))) {
            Matcher row = ROW.matcher(line);
            if (line.startsWith("## ")) {
                module = line.substring(3);
            } else if (line.startsWith("### ")) {
                inPackage = line.substring(4);
            } else if (row.matches()) {
                rows.add(new Row(module, inPackage, row.group(1), row.group(2)));
            }
        }
    }

    private void readListing(Path file) throws IOException {
        String module = file.getFileName().toString().replace(".txt", "");
        Set<String> ofType = new HashSet<>();
        for (String line : Files.readAllLines(file)) {
            Matcher type = LISTED_TYPE.matcher(line);
            Matcher member = LISTED_MEMBER.matcher(line);
            if (type.matches()) {
                ofType = members.computeIfAbsent(type.group(2), _ -> new HashSet<>());
                if (!type.group(2).contains("$")) {
                    listed.add(module + " " + type.group(1) + type.group(2));
                }
            } else if (member.matches()) {
                ofType.add(member.group(1));
            }
        }
    }

    /** A module's unit tests are no users. */
    private void addSource(Path file) {
        String module = CHECKOUT.relativize(file).getName(0).toString();
        if (file.toString().contains("/src/test/") && !module.equals("test")) {
            return;
        }
        String name = file.getFileName().toString().replace(".java", "");
        sources.computeIfAbsent(name, _ -> new ArrayList<>()).add(file);
        if (module.equals("cli")) {
            sources.computeIfAbsent("", _ -> new ArrayList<>()).add(file);
        }
    }

    @Test
    void eachPublicTypeHasOneRow() {
        assertThat(listed).hasSizeGreaterThan(100);
        assertThat(rows).extracting(Row::name).containsExactlyInAnyOrderElementsOf(listed);
    }

    @Test
    void theUsersExistAndUseTheType() throws IOException {
        List<String> problems = new ArrayList<>();
        int users = 0;
        for (Row row : rows) {
            List<String> uses = new ArrayList<>(List.of(row.type()));
            List<String> named = new ArrayList<>();
            for (String code : codeOf(row.users())) {
                Matcher member = MEMBER.matcher(code);
                if (!member.matches()) {
                    named.add(code);
                } else if (members.getOrDefault(member.group(1), Set.of()).contains(member.group(2))) {
                    uses.add(member.group(2));
                } else {
                    problems.add(row.type() + ": there is no " + code);
                }
            }
            Pattern use = Pattern.compile("\\b(?:" + String.join("|", uses) + ")\\b");
            for (String user : named) {
                List<Path> files = files(user);
                Path own = CHECKOUT.resolve(row.module());
                if (files.stream().allMatch(file -> file.startsWith(own))) {
                    problems.add(row.type() + ": there is no user " + user + " outside of " + row.module());
                } else if (!anyMatches(files, use)) {
                    problems.add(row.type() + ": " + user + " names none of " + uses);
                }
            }
            if (named.isEmpty() != row.users().startsWith("only ")) {
                problems.add(row.type() + ": without a user, and only then, it must say 'only': " + row.users());
            }
            users += named.size();
        }
        assertThat(users).isGreaterThan(listed.size());
        assertThat(problems).isEmpty();
    }

    private static List<String> codeOf(String cells) {
        return CODE.matcher(cells).results().map(code -> code.group(1)).toList();
    }

    /** The files of a user; none if there is no such user. A subcommand has the files of the whole command. */
    private List<Path> files(String user) {
        Matcher command = COMMAND.matcher(user);
        if (command.matches()) {
            String name = command.group(1).toUpperCase(Locale.ROOT) + command.group(2) + "Command";
            return sources.containsKey(name) ? sources.getOrDefault("", List.of()) : List.of();
        }
        if (user.endsWith(".md")) {
            Path page = CHECKOUT.resolve(user);
            return Files.exists(page) ? List.of(page) : List.of();
        }
        return sources.getOrDefault(user, List.of());
    }

    private static boolean anyMatches(List<Path> files, Pattern use) throws IOException {
        for (Path file : files) {
            if (use.matcher(Files.readString(file)).find()) {
                return true;
            }
        }
        return false;
    }
}
