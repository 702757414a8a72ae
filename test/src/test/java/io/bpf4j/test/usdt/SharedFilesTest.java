package io.bpf4j.test.usdt;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.OVERLAY;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Mount;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.Question;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Containers of one image: each has the files of the image on an overlay of its own, and the kernel has one inode for
 * all, at which breakpoints are. An event is counted once, through however many names the file was found.
 */
@Requires({BPF, GCC, SDT_H, ASSEMBLER})
@ExtendWith(LeakCheck.class)
class SharedFilesTest {
    @TempDir
    Path folder;

    private Path image = Path.of("");

    @BeforeEach
    void copy() throws IOException {
        image = Files.createDirectory(folder.resolve("image"));
        Files.createDirectory(folder.resolve("empty"));
    }

    /** A container's root. Without an upper layer, so that it can be unmounted on each kernel. */
    private Mount container(String name) throws IOException {
        return Mount.of("overlay", "lowerdir=" + image + ":" + folder.resolve("empty"), folder.resolve(name));
    }

    private static UsdtScan scan(Path... files) throws IOException {
        List<UsdtScan> scans = Stream.of(files)
                .map(file -> {
                    try {
                        return UsdtScan.ofFile(file);
                    } catch (IOException e) {
                        throw new AssertionError(file + " can't be scanned", e);
                    }
                })
                .toList();
        return UsdtScan.join(scans).matching("target:sizes");
    }

    @Test
    @Requires(OVERLAY)
    void anEventOfAFileInTwoContainersIsCountedOnce() throws IOException {
        Path program = Files.copy(TargetProgram.compile("-O2"), image.resolve("target"));
        for (Strategy strategy : Stream.of(Strategy.MULTI, Strategy.COOKIE)
                .filter(Strategy::isSupported)
                .toList()) {
            try (Mount one = container("one");
                    Mount two = container("two");
                    TargetProgram inOne =
                            TargetProgram.startCopy(one.directory().resolve("target"));
                    TargetProgram inTwo =
                            TargetProgram.startCopy(two.directory().resolve("target"));
                    TargetProgram outside = TargetProgram.startCopy(program);
                    BpfObject object = strategy.loader("counters.bpf.o", 0).load()) {
                UsdtScan scan = scan(inOne.path(), inTwo.path(), program);
                assertThat(scan.probes()).hasSize(3);
                try (UsdtLink link = Usdt.of(object).attach(object.program("count"), scan)) {
                    assertThat(link.siteCount()).isOne();
                    inOne.command("sizes");
                    assertThat(Bpf.u64(object, "total")).isEqualTo(1);
                    inTwo.command("sizes");
                    assertThat(Bpf.u64(object, "total")).isEqualTo(2);
                    outside.command("sizes");
                    assertThat(Bpf.u64(object, "total")).isEqualTo(3);
                }
            }
        }
    }

    /** The file that a container has changed is a file of its own. */
    @Test
    @Requires(OVERLAY)
    void theCopyOfAContainerIsAttachedToAsWell() throws IOException {
        Path program = Files.copy(TargetProgram.compile("-O2"), image.resolve("target"));
        Path upper = Files.createDirectory(folder.resolve("upper"));
        Path work = Files.createDirectory(folder.resolve("work"));
        try (Mount container = Mount.of(
                "overlay",
                "lowerdir=" + image + ",upperdir=" + upper + ",workdir=" + work,
                folder.resolve("container"))) {
            Path copied = container.directory().resolve("target");
            Files.setLastModifiedTime(copied, Files.getLastModifiedTime(program));
            try (TargetProgram inside = TargetProgram.startCopy(copied);
                    TargetProgram outside = TargetProgram.startCopy(program);
                    BpfObject object = Bpf.only(BpfLoader.of(Bpf.spec("counters.bpf.o")), 0)
                            .load();
                    UsdtLink link = Usdt.of(object).attach(object.program("count"), scan(copied, program))) {
                assertThat(link.siteCount()).isEqualTo(2);
                inside.command("sizes");
                outside.command("sizes");
                assertThat(Bpf.u64(object, "total")).isEqualTo(2);
            }
        }
    }

    /** Snapshots of btrfs are such files, too: two inodes that look the same but for the device. */
    @Test
    void filesThatLookTheSameOnOtherFileSystemsAreTwo() throws IOException {
        Path program = TargetProgram.compile("-O2");
        try (Mount first = Mount.of("tmpfs", "", folder.resolve("one"));
                Mount second = Mount.of("tmpfs", "", folder.resolve("two"))) {
            Path one = Files.copy(program, first.directory().resolve("target"), StandardCopyOption.COPY_ATTRIBUTES);
            Path two = Files.copy(program, second.directory().resolve("target"), StandardCopyOption.COPY_ATTRIBUTES);
            assertThat(Files.getAttribute(one, "unix:ino")).isEqualTo(Files.getAttribute(two, "unix:ino"));
            try (BpfObject object = Bpf.only(BpfLoader.of(Bpf.spec("counters.bpf.o")), 0)
                            .load();
                    UsdtLink link = Usdt.of(object).attach(object.program("count"), scan(one, two))) {
                assertThat(link.siteCount()).isEqualTo(2);
            }
        }
    }

    @Test
    @Requires(OVERLAY)
    void aCallOfAFunctionInTwoContainersIsCountedOnce() throws IOException, InterruptedException {
        Files.copy(
                CPrograms.compile("branches", "-O1", CPrograms.WALKABLE, "-fno-optimize-sibling-calls"),
                image.resolve("branches"));
        try (Mount one = container("one");
                Mount two = container("two")) {
            Path inOne = one.directory().resolve("branches");
            Path inTwo = two.directory().resolve("branches");
            try (Answer calls = Question.on(List.of())
                    .alsoOn(FunctionProbe.entry(inOne, "leaf"), FunctionProbe.entry(inTwo, "leaf"))
                    .open()) {
                Commands.check(List.of(inOne.toString(), "3", "20"));
                assertThat(calls.rows()).extracting(Answer.Row::count).containsExactly(3L);
                Commands.check(List.of(inTwo.toString(), "4", "20"));
                assertThat(calls.rows()).extracting(Answer.Row::count).containsExactly(7L);
            }
        }
    }
}
