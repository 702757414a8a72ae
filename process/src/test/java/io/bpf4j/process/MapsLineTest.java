package io.bpf4j.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.internal.text.FileName;
import io.bpf4j.sys.internal.proc.Lines;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MapsLineTest {
    @TempDir
    Path folder;

    private List<MappedRange> parse(String text) throws IOException {
        return parse(text.getBytes(StandardCharsets.UTF_8));
    }

    private List<MappedRange> parse(byte[] text) throws IOException {
        Path file = Files.write(folder.resolve("maps"), text);
        List<MappedRange> mappings = new ArrayList<>();
        boolean all = Lines.read(file, MapsLine.MAX_BYTES, ProcessLimits.MAX_MAPS_BYTES, (line, length) -> {
            MapsLine.parse(line, length).ifPresent(mappings::add);
            return true;
        });
        assertThat(all).isTrue();
        return mappings;
    }

    private static MappedRange mapping(
            long start, long end, String permissions, long offset, long major, long minor, long inode, String text) {
        return new MappedRange(
                start, end, permissions, offset, FileIdentity.device(major, minor), inode, FileName.of(text));
    }

    @Test
    void aFileIsOneByDeviceAndInode() throws IOException {
        // Device 0:0x2d, as st_dev packs it, and inode 2: the first file of any tmpfs.
        FileIdentity file = new FileIdentity(0x2d, 2, 4096, 0);
        assertThat(parse("""
            7f0000000000-7f0000001000 r-xp 00000000 00:2d 2 /one/lib.so
            7f0000001000-7f0000002000 r-xp 00000000 00:2e 2 /two/lib.so
            7f0000002000-7f0000003000 r-xp 00000000 00:2d 3 /one/other.so
            """))
                .filteredOn(mapping -> mapping.isOf(file))
                .extracting(mapping -> mapping.name().toString())
                .containsExactly("/one/lib.so");
    }

    @Test
    void readsEveryKindOfLine() throws IOException {
        String text = """
            00400000-0040b000 r-xp 00000000 08:01 1048602                            /usr/bin/cat
            7ffff7dd8000-7ffff7e00000 r--p 00026000 fe:01 99 /opt/with blank/lib (x).so
            7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n\
            7f0000001000-7f0000002000 r-xp 00001000 00:01 2048                       /memfd:probes (deleted)
            7f0000002000-7f0000003000 r-xp 00000000 103:fffff 18446744073709551615   /tmp/a\\012b
            7ffe0a3c0000-7ffe0a3c2000 r-xp 00000000 00:00 0                          [vdso]
            ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
            not a line at all
            """;
        assertThat(parse(text))
                .containsExactly(
                        mapping(0x400000, 0x40b000, "r-xp", 0, 8, 1, 1048602, "/usr/bin/cat"),
                        mapping(
                                0x7ffff7dd8000L,
                                0x7ffff7e00000L,
                                "r--p",
                                0x26000,
                                0xfe,
                                1,
                                99,
                                "/opt/with blank/lib (x).so"),
                        mapping(0x7f0000000000L, 0x7f0000001000L, "rw-p", 0, 0, 0, 0, ""),
                        mapping(
                                0x7f0000001000L,
                                0x7f0000002000L,
                                "r-xp",
                                0x1000,
                                0,
                                1,
                                2048,
                                "/memfd:probes (deleted)"),
                        mapping(0x7f0000002000L, 0x7f0000003000L, "r-xp", 0, 0x103, 0xfffff, -1, "/tmp/a\\012b"),
                        mapping(0x7ffe0a3c0000L, 0x7ffe0a3c2000L, "r-xp", 0, 0, 0, 0, "[vdso]"),
                        mapping(0xffffffffff600000L, 0xffffffffff601000L, "--xp", 0, 0, 0, 0, "[vsyscall]"));
    }

    @Test
    void tellsExecutableFilesFromTheRest() throws IOException {
        assertThat(parse("""
            1000-2000 r-xp 0 08:01 5 /usr/bin/cat
            2000-3000 r--p 0 08:01 5 /usr/bin/cat
            3000-4000 r-xp 0 00:00 0 [vdso]
            4000-5000 rwxp 0 00:00 0
            """)).filteredOn(m -> m.executable() && m.isFile()).hasSize(1);
    }

    @Test
    void aNameMayMeanSeveralFiles() throws IOException {
        assertThat(parse("1000-2000 r-xp 0 08:01 5 /tmp/a\\012b (deleted)\n"))
                .singleElement()
                .satisfies(mapping -> {
                    assertThat(mapping.deleted()).isTrue();
                    assertThat(mapping.name()).hasToString("/tmp/a\nb");
                    assertThat(mapping.names())
                            .containsExactly(FileName.of("/tmp/a\nb (deleted)"), FileName.of("/tmp/a\\012b (deleted)"));
                });
    }

    /**
     * All that a line break is to somebody, but to the kernel: in a name, it would forge a mapping of a line of its
     * own.
     */
    @Test
    void onlyANewlineEndsALine() throws IOException {
        for (String end : List.of("\r", "\u000b", "\f", "\u001c", "\u0085", "\u2028", "\r\r")) {
            String name = "/tmp/x" + end + "1000-2000 r-xp 00000000 08:01 77 /root/secret";
            assertThat(parse("4000-5000 r-xp 00000000 08:01 5 " + name + "\n"))
                    .containsExactly(mapping(0x4000, 0x5000, "r-xp", 0, 8, 1, 5, name));
        }
    }

    @Test
    void namesAreBytes() throws IOException {
        byte[] line = "1000-2000 r-xp 0 08:01 5 /a?b?\u00e9 (deleted)\n".getBytes(StandardCharsets.UTF_8);
        line[27] = (byte) 0xff;
        line[29] = (byte) 0xc3;
        FileName name = parse(line).getFirst().name();
        assertThat(name).hasToString("/a\\xffb\\xc3\u00e9");
        assertThat(name.path().toUri().getRawPath()).isEqualTo("/a%FFb%C3%C3%A9");
        assertThat(name.below(Path.of("/proc/7/root")).toUri().getRawPath()).isEqualTo("/proc/7/root/a%FFb%C3%C3%A9");
        assertThat(FileName.of("/plain/a%b c?#[]\\").path()).isEqualTo(Path.of("/plain/a%b c?#[]\\"));
    }

    @Test
    void aLineThatIsTooLongIsCutAndTheNextOneRead() throws IOException {
        String name = "/" + "x".repeat(200_000);
        assertThat(parse("1000-2000 r-xp 0 08:01 5 " + name + "\n2000-3000 r-xp 0 08:01 6 /y\n"))
                .satisfiesExactly(
                        first -> assertThat(first.text().length()).isEqualTo(4 * ProcessLimits.MAX_NAME_BYTES),
                        second -> assertThat(second.text()).hasToString("/y"));
    }
}
