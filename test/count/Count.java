import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * How large the main code is, module by module; see {@code run}. A single-file program:
 *
 * <pre>
 * lines      lines with code: without comments, blank lines, imports and package clauses
 * files      .java files below src/main/java
 * types      public top-level types of exported packages
 * methods    their public methods, accessors of records among them; neither constructors nor those of nested types
 * median     lines of the median file; of two in the middle, the larger number
 * largest    lines of the largest file, and its name
 * </pre>
 */
class Count {
    private static final List<String> MODULES = List.of("elf", "btf", "sys", "loader", "process", "usdt", "bpf-objects", "trace", "metrics", "bindings", "maven-plugin", "cli");

    record Source(Path file, int lines) {}

    public static void main(String[] arguments) throws IOException {
        Path checkout = Path.of(arguments[0]);
        System.out.printf("%-12s %7s %6s %6s %8s %7s %8s%n", "module", "lines", "files", "types", "methods", "median", "largest");
        List<Source> all = new ArrayList<>();
        int[] allPublic = new int[2];
        for (String module : MODULES) {
            Path main = checkout.resolve(module).resolve("src/main/java");
            if (!Files.isDirectory(main)) {
                continue; // an older state, from before the module was made
            }
            List<Source> sources = sources(main);
            int[] publicApi = publicApi(main, sources);
            print(module, sources, publicApi);
            all.addAll(sources);
            allPublic[0] += publicApi[0];
            allPublic[1] += publicApi[1];
        }
        print("all", all, allPublic);
    }

    private static void print(String module, List<Source> sources, int[] publicApi) {
        List<Source> sorted = sources.stream().sorted(Comparator.comparingInt(Source::lines)).toList();
        Source largest = sorted.getLast();
        System.out.printf(
                "%-12s %7d %6d %6d %8d %7d %8d %s%n",
                module,
                sources.stream().mapToInt(Source::lines).sum(),
                sources.size(),
                publicApi[0],
                publicApi[1],
                sorted.get(sorted.size() / 2).lines(),
                largest.lines(),
                largest.file().getFileName());
    }

    private static List<Source> sources(Path main) throws IOException {
        List<Source> sources = new ArrayList<>();
        try (Stream<Path> files = Files.walk(main)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
                sources.add(new Source(file, lines(Files.readString(file))));
            }
        }
        return sources;
    }

    private static int lines(String source) {
        return (int) withoutComments(source)
                .lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("import ") && !line.startsWith("package "))
                .count();
    }

    /** The source without its comments; what looks like one in a string or a text block stays. */
    private static String withoutComments(String source) {
        StringBuilder code = new StringBuilder();
        int i = 0;
        while (i < source.length()) {
            int end = i + 1;
            boolean comment = false;
            if (source.startsWith("//", i)) {
                comment = true;
                end = source.indexOf('\n', i);
            } else if (source.startsWith("/*", i)) {
                comment = true;
                end = source.indexOf("*/", i) + 2;
            } else if (source.startsWith("\"\"\"", i)) {
                end = endOfLiteral(source, i + 3, "\"\"\"");
            } else if (source.charAt(i) == '"' || source.charAt(i) == '\'') {
                end = endOfLiteral(source, i + 1, source.substring(i, i + 1));
            }
            if (!comment) {
                code.append(source, i, end);
            }
            i = end;
        }
        return code.toString();
    }

    private static int endOfLiteral(String source, int from, String delimiter) {
        int i = from;
        while (!source.startsWith(delimiter, i)) {
            i += source.charAt(i) == '\\' ? 2 : 1;
        }
        return i + delimiter.length();
    }

    /** How many public top-level types the exported packages have, and how many public methods those. */
    private static int[] publicApi(Path main, List<Source> sources) throws IOException {
        Path module = main.resolve("module-info.java");
        if (!Files.exists(module)) {
            return new int[2]; // the Maven plugin is no library
        }
        List<String> exported = Files.readAllLines(module).stream()
                .map(String::strip)
                .filter(line -> line.startsWith("exports ") && !line.contains(" to "))
                .map(line -> line.replaceAll("exports |;", ""))
                .toList();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        int types = 0;
        int methods = 0;
        try (var files = compiler.getStandardFileManager(null, null, null)) {
            var units = files.getJavaFileObjectsFromPaths(
                    sources.stream().map(Source::file).toList());
            JavacTask task = (JavacTask) compiler.getTask(null, files, null, List.of("-proc:none"), null, units);
            for (CompilationUnitTree unit : task.parse()) {
                if (unit.getPackageName() == null || !exported.contains(unit.getPackageName().toString())) {
                    continue;
                }
                for (Tree declaration : unit.getTypeDecls()) {
                    if (declaration instanceof ClassTree type
                            && type.getModifiers().getFlags().contains(Modifier.PUBLIC)) {
                        types++;
                        methods += publicMethods(type);
                    }
                }
            }
        }
        return new int[] {types, methods};
    }

    private static int publicMethods(ClassTree type) {
        boolean isInterface = type.getKind() == Tree.Kind.INTERFACE || type.getKind() == Tree.Kind.ANNOTATION_TYPE;
        int methods = 0;
        // The accessors of a record: one by itself for each component, unless it is written out.
        Set<String> components = new HashSet<>();
        Set<String> withoutParameters = new HashSet<>();
        for (Tree member : type.getMembers()) {
            if (member instanceof MethodTree method && !method.getName().contentEquals("<init>")) {
                var flags = method.getModifiers().getFlags();
                if (flags.contains(Modifier.PUBLIC) || isInterface && !flags.contains(Modifier.PRIVATE)) {
                    methods++;
                }
                if (method.getParameters().isEmpty()) {
                    withoutParameters.add(method.getName().toString());
                }
            } else if (member instanceof VariableTree field
                    && type.getKind() == Tree.Kind.RECORD
                    && !field.getModifiers().getFlags().contains(Modifier.STATIC)) {
                components.add(field.getName().toString());
            }
        }
        components.removeAll(withoutParameters);
        return methods + components.size();
    }
}
