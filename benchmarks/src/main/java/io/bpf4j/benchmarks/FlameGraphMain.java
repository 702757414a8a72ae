package io.bpf4j.benchmarks;

import io.bpf4j.trace.stack.Frame;
import io.bpf4j.trace.stack.StackCounts;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Makes a flame graph of what {@code perf script -F ip,sym} prints. Takes the file to write, the title, and the name of
 * a method of {@link ProfiledMain}: stacks without this method are left out, and so are the frames that called it.
 */
final class FlameGraphMain {
    private static final Pattern FRAME = Pattern.compile("\\s+([0-9a-f]+) (.*)");

    /** The JVM names compiled methods as {@code io.bpf4j.usdt.UsdtLink io.bpf4j.usdt.Usdt.attach(java.util.List)}. */
    private static final Pattern METHOD = Pattern.compile("(?:.* )?(?:[^ ]*[./])?([^ ./]+\\.[^ ./]+)\\(.*\\)");

    private FlameGraphMain() {}

    public static void main(String[] arguments) throws IOException {
        String root = "ProfiledMain." + arguments[2];
        StackCounts counts = StackCounts.create();
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            List<Frame> stack = new ArrayList<>();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Matcher frame = FRAME.matcher(line);
                if (frame.matches()) {
                    stack.add(frame(Long.parseUnsignedLong(frame.group(1), 16), frame.group(2)));
                } else {
                    add(counts, stack, root);
                    stack.clear();
                }
            }
            add(counts, stack, root);
        }
        if (counts.total() == 0) {
            throw new IOException("no stack has " + root);
        }
        try (Writer out = Files.newBufferedWriter(Path.of(arguments[0]))) {
            counts.svg(out, arguments[1]);
        }
        System.out.println(counts.total() + " samples in " + arguments[0]);
    }

    /** @param innermostFirst not changed */
    private static void add(StackCounts counts, List<Frame> innermostFirst, String root) {
        int end = 0;
        for (int i = 0; i < innermostFirst.size(); i++) {
            if (innermostFirst.get(i).function().equals(root)) {
                end = i + 1;
            }
        }
        if (end > 0) {
            int user = 0;
            while (user < end && innermostFirst.get(user).source() == Frame.Source.KERNEL) {
                user++;
            }
            counts.add("", innermostFirst.subList(user, end), innermostFirst.subList(0, user), 1);
        }
    }

    private static Frame frame(long address, String symbol) {
        if (address < 0) {
            return named(address, symbol, Frame.Source.KERNEL);
        }
        Matcher method = METHOD.matcher(symbol.replaceAll("\\$\\$Lambda/0x[0-9a-f]+", "\\$\\$Lambda"));
        if (method.matches()) {
            return named(address, method.group(1), Frame.Source.PERF_MAP);
        }
        return symbol.equals("[unknown]")
                ? named(address, "", Frame.Source.UNKNOWN)
                : named(address, symbol, Frame.Source.SYMBOLS);
    }

    private static Frame named(long address, String name, Frame.Source source) {
        return new Frame(address, name, name, 0, "", source);
    }
}
