package io.bpf4j.test.support;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** bpftool, which loads by libbpf: the second opinion on what an object becomes in the kernel. */
public final class BpfTool {
    private static final Pattern MAP = Pattern.compile("^([0-9]+): \\S+ +(?:name (\\S+) )?", Pattern.MULTILINE);

    /** A number of 64 bits in two slots. */
    private static final int LD_IMM64 = 0x18;

    private BpfTool() {}

    /** Loads all programs of an object and pins them in a directory, which it makes. */
    public static Commands.Result loadAll(Path object, Path directory) throws IOException, InterruptedException {
        return Commands.run(List.of("bpftool", "prog", "loadall", object.toString(), directory.toString()));
    }

    /**
     * The instructions of every program that is pinned in a directory, as the kernel has them after verification, a
     * line of hexadecimal numbers each. What differs from load to load is made equal: maps stand by their name in place
     * of their id.
     */
    public static Map<String, List<String>> translated(Path directory) throws IOException, InterruptedException {
        Map<String, List<String>> programs = new TreeMap<>();
        if (Files.notExists(directory)) {
            return programs; // nothing was pinned
        }
        Map<Integer, String> maps = mapNames();
        Path out = Files.createTempFile("translated", ".bin");
        try (DirectoryStream<Path> pins = Files.newDirectoryStream(directory)) {
            for (Path pin : pins) {
                Commands.Result dump = Commands.run(
                        List.of("bpftool", "prog", "dump", "xlated", "pinned", pin.toString(), "file", out.toString()));
                if (dump.exitCode() != 0) {
                    throw new IOException(pin + ": " + dump.out() + dump.err());
                }
                programs.put(String.valueOf(pin.getFileName()), lines(Files.readAllBytes(out), maps));
            }
        } finally {
            Files.delete(out);
        }
        return programs;
    }

    private static List<String> lines(byte[] code, Map<Integer, String> maps) {
        ByteBuffer slots = ByteBuffer.wrap(code).order(ByteOrder.nativeOrder());
        List<String> lines = new ArrayList<>();
        boolean inAddress = false;
        for (int at = 0; at + 8 <= code.length; at += 8) {
            int opcode = slots.get(at) & 0xff;
            int source = slots.get(at + 1) >> 4 & 0xf;
            int immediate = slots.getInt(at + 4);
            String value = Integer.toHexString(immediate);
            if (opcode == LD_IMM64 && (source == 1 || source == 2)) {
                // Of a map (1) or of a place in its value (2): the immediate is the map's id.
                value = "map " + maps.getOrDefault(immediate, "?");
            } else if (inAddress) {
                value = "of it";
                inAddress = false;
            } else if (opcode == LD_IMM64 && source == 0 && at + 16 <= code.length) {
                inAddress = isUpperHalfOfAddress(slots.getInt(at + 12));
                value = inAddress ? "address" : value;
            }
            lines.add("%02x %02x %04x %s"
                    .formatted(opcode, slots.get(at + 1) & 0xff, slots.getShort(at + 2) & 0xffff, value));
        }
        return lines;
    }

    /**
     * Whether a number is an address that the verifier put in, in one of two kinds of memory: what the kernel
     * allocates, unlike its own symbols (a program, for the helpers of timers), and what a process maps (an arena).
     */
    private static boolean isUpperHalfOfAddress(int upperHalf) {
        boolean ofKernel = upperHalf >>> 24 == 0xff && upperHalf != -1;
        boolean ofProcess = upperHalf >>> 12 == 0x7;
        return ofKernel || ofProcess;
    }

    private static Map<Integer, String> mapNames() throws IOException, InterruptedException {
        Map<Integer, String> names = new TreeMap<>();
        Matcher matcher =
                MAP.matcher(Commands.run(List.of("bpftool", "map", "show")).out());
        while (matcher.find()) {
            names.put(Integer.parseInt(matcher.group(1)), String.valueOf(matcher.group(2)));
        }
        return names;
    }
}
