package io.bpf4j.usdt.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.FileIdentity;
import org.junit.jupiter.api.Test;

class MapsFileTest {

    @Test
    void aFileIsOneByDeviceAndInode() {
        // Device 0:0x2d, as st_dev packs it, and inode 2: the first file of any tmpfs.
        FileIdentity file = new FileIdentity(0x2d, 2, 4096, 0);
        assertThat(MapsFile.parse("""
                7f0000000000-7f0000001000 r-xp 00000000 00:2d 2 /one/lib.so
                7f0000001000-7f0000002000 r-xp 00000000 00:2e 2 /two/lib.so
                7f0000002000-7f0000003000 r-xp 00000000 00:2d 3 /one/other.so
                """))
                .filteredOn(mapping -> mapping.isOf(file))
                .extracting(Mapping::path)
                .containsExactly("/one/lib.so");
    }

    @Test
    void readsEveryKindOfLine() {
        String text = """
                00400000-0040b000 r-xp 00000000 08:01 1048602                            /usr/bin/cat
                7ffff7dd8000-7ffff7e00000 r--p 00026000 fe:01 99 /opt/with blank/lib (x).so
                7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n\
                7f0000001000-7f0000002000 r-xp 00001000 00:01 2048                       /memfd:probes (deleted)
                7f0000002000-7f0000003000 r-xp 00000000 08:01 7                          /tmp/a\\012b
                7ffe0a3c0000-7ffe0a3c2000 r-xp 00000000 00:00 0                          [vdso]
                ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
                not a line at all
                """;
        assertThat(MapsFile.parse(text))
                .containsExactly(
                        new Mapping(0x400000, 0x40b000, "r-xp", 0, "08:01", 1048602, "/usr/bin/cat", false),
                        new Mapping(
                                0x7ffff7dd8000L,
                                0x7ffff7e00000L,
                                "r--p",
                                0x26000,
                                "fe:01",
                                99,
                                "/opt/with blank/lib (x).so",
                                false),
                        new Mapping(0x7f0000000000L, 0x7f0000001000L, "rw-p", 0, "00:00", 0, "", false),
                        new Mapping(
                                0x7f0000001000L, 0x7f0000002000L, "r-xp", 0x1000, "00:01", 2048, "/memfd:probes", true),
                        new Mapping(0x7f0000002000L, 0x7f0000003000L, "r-xp", 0, "08:01", 7, "/tmp/a\nb", false),
                        new Mapping(0x7ffe0a3c0000L, 0x7ffe0a3c2000L, "r-xp", 0, "00:00", 0, "[vdso]", false),
                        new Mapping(
                                0xffffffffff600000L, 0xffffffffff601000L, "--xp", 0, "00:00", 0, "[vsyscall]", false));
    }

    @Test
    void tellsExecutableFilesFromTheRest() {
        assertThat(MapsFile.parse("""
                1000-2000 r-xp 0 08:01 5 /usr/bin/cat
                2000-3000 r--p 0 08:01 5 /usr/bin/cat
                3000-4000 r-xp 0 00:00 0 [vdso]
                4000-5000 rwxp 0 00:00 0
                """))
                .filteredOn(m -> m.executable() && m.isFile())
                .hasSize(1);
    }
}
