package io.bpf4j.loader.internal.attach;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.FileOpener;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.internal.attach.FunctionSymbols.Function;
import io.bpf4j.loader.internal.attach.FunctionSymbols.VersionedName;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Functions by name, in the libraries of the JVM that runs this; test/ has compiled programs, stripped and versioned.
 */
class FunctionSitesTest {
    private static final Path LIBJVM = Path.of(System.getProperty("java.home"), "lib/server/libjvm.so");

    @TempDir
    Path noDebugFiles;

    private FunctionSites sites() {
        return new FunctionSites(new DebugFiles(noDebugFiles), FileOpener.JAVA);
    }

    @Test
    void aFunctionIsWhereItsSymbolSays() throws IOException {
        long expected;
        try (ElfFile elf = ElfFile.open(LIBJVM)) {
            expected = elf.fileOffset(elf.symbols("JNI_CreateJavaVM").getFirst().value())
                    .orElseThrow();
        }
        FunctionSites.Sites places = sites().each("p", LIBJVM, List.of("JNI_CreateJavaVM"));
        assertThat(places.file()).isEqualTo(LIBJVM);
        assertThat(places.offsets()).containsExactly(expected);
    }

    @Test
    void aPatternFindsEachPlaceOnce() {
        FunctionSites.Sites places = sites().matching("p", LIBJVM, List.of("JNI_*"));
        assertThat(places.offsets()).isSorted().doesNotHaveDuplicates().hasSizeGreaterThanOrEqualTo(3);
        assertThat(places.offsets())
                .contains(sites().each("p", LIBJVM, List.of("JNI_CreateJavaVM")).offsets());
    }

    /** As Android keeps libraries: the kernel opens the archive, and counts from its start. */
    @Test
    void aLibraryInAnArchive() throws IOException {
        Path libnet = Path.of(System.getProperty("java.home"), "lib/libnet.so");
        byte[] bytes = Files.readAllBytes(libnet);
        CRC32 checksum = new CRC32();
        checksum.update(bytes);
        Path archive = noDebugFiles.resolve("app.apk");
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(archive))) {
            ZipEntry entry = new ZipEntry("lib/libnet.so");
            entry.setMethod(ZipEntry.STORED);
            entry.setSize(bytes.length);
            entry.setCrc(checksum.getValue());
            zip.putNextEntry(entry);
            zip.write(bytes);
        }
        FunctionSites.Sites alone = sites().each("p", libnet, List.of("JNI_OnLoad"));
        FunctionSites.Sites stored = sites().each("p", Path.of(archive + "!/lib/libnet.so"), List.of("JNI_OnLoad"));
        assertThat(stored.file()).isEqualTo(archive);
        assertThat(stored.offsets()[0]).isGreaterThan(alone.offsets()[0]);
        byte[] code = Files.readAllBytes(archive);
        int length = 16;
        assertThat(Arrays.copyOfRange(code, (int) stored.offsets()[0], (int) stored.offsets()[0] + length))
                .isEqualTo(Arrays.copyOfRange(bytes, (int) alone.offsets()[0], (int) alone.offsets()[0] + length));
    }

    @Test
    void whatIsNotThereIsNamedWithWhatIs() {
        assertThatThrownBy(() -> sites().each("on_x to JNI_Create in libjvm.so", LIBJVM, List.of("JNI_Create")))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining("on_x")
                .hasMessageContaining("\"JNI_Create\"")
                .hasMessageContaining("JNI_CreateJavaVM");
        for (String misspelled : List.of("JMI_CreateJavaVM", "JNI_CreateJavaVN")) {
            assertThatThrownBy(() -> sites().each("p", LIBJVM, List.of(misspelled)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining(
                            "the file has no function \"" + misspelled + "\"; the nearest is 'JNI_CreateJavaVM'");
        }
        assertThatThrownBy(() -> sites().matching("p", LIBJVM, List.of("nothing_like_it*")))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining("nothing_like_it*");
        assertThatThrownBy(() -> sites().each("p", LIBJVM, List.of("JNI_*")))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining("uprobe.multi");
    }

    /** The kernel would accept it, and no process would ever come to the place. */
    @Test
    void filesThatNoProcessRunsAreRefused() throws IOException {
        byte[] library = Files.readAllBytes(Path.of(System.getProperty("java.home"), "lib/libnet.so"));
        for (int type : new int[] {0, 1, 4, 0xfe00}) {
            ByteBuffer.wrap(library).order(ByteOrder.nativeOrder()).putShort(16, (short) type);
            Path file = Files.write(noDebugFiles.resolve("type" + type), library);
            assertThatThrownBy(() -> sites().each("p", file, List.of("JNI_OnLoad")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageStartingWith("attach p: " + file + " is ");
            assertThatThrownBy(() -> sites().matching("p", file, List.of("JNI_*")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageStartingWith("attach p: " + file + " is ");
        }
    }

    @Test
    void filesThatCantBeReadAreNamed() throws IOException {
        assertThatThrownBy(() -> sites().each("p", Path.of("/no/such/file"), List.of("f")))
                .isInstanceOf(AttachException.class)
                .hasMessage("attach p: there is no file /no/such/file");
        Path text = Files.writeString(noDebugFiles.resolve("text"), "not an ELF file");
        assertThatThrownBy(() -> sites().each("p", text, List.of("f")))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining(text.toString());
    }

    @Test
    void versionsOfAName() {
        Function today = new Function("memcpy", Optional.of("GLIBC_2.14"), true, false, false, 1);
        Function old = new Function("memcpy", Optional.of("GLIBC_2.2.5"), false, false, false, 2);
        Function plain = new Function("memcpy", Optional.empty(), true, true, false, 3);
        assertThat(today.is(VersionedName.parse("memcpy"))).isTrue();
        assertThat(old.is(VersionedName.parse("memcpy"))).isTrue();
        assertThat(plain.is(VersionedName.parse("memcpy"))).isTrue();
        assertThat(old.is(VersionedName.parse("memcpy@GLIBC_2.2.5"))).isTrue();
        assertThat(old.is(VersionedName.parse("memcpy@@GLIBC_2.2.5"))).isFalse();
        assertThat(today.is(VersionedName.parse("memcpy@GLIBC_2.14"))).isTrue();
        assertThat(today.is(VersionedName.parse("memcpy@@GLIBC_2.14"))).isTrue();
        assertThat(plain.is(VersionedName.parse("memcpy@GLIBC_2.14"))).isFalse();
        assertThat(today.is(VersionedName.parse("mem*@GLIBC_2.14"))).isTrue();
    }
}
