package io.bpf4j.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ControlGroupsTest {
    @TempDir
    Path root;

    @BeforeEach
    void mount() throws IOException {
        Files.createDirectories(root.resolve("proc/self"));
        mounts(
                "25 20 0:22 / /sys rw - sysfs sysfs rw",
                "36 25 0:31 / /sys/fs/c\\040group rw shared:4 - cgroup2 none rw");
        group("", "");
    }

    private void mounts(String... lines) throws IOException {
        Files.write(root.resolve("proc/self/mountinfo"), List.of(lines));
    }

    private void group(String path, String processes) throws IOException {
        Path directory = Files.createDirectories(root.resolve("sys/fs/c group" + path));
        Files.writeString(directory.resolve("cgroup.procs"), processes);
    }

    private static ControlGroups.Search named(Predicate<List<String>> wanted) {
        return new ControlGroups.Search() {
            @Override
            public boolean matches(List<String> names, boolean trusted) {
                return trusted && wanted.test(names);
            }

            @Override
            public boolean descends(List<String> names, boolean trusted) {
                return trusted;
            }
        };
    }

    private static List<ControlGroups.Group> find(ControlGroups groups, ControlGroups.Search search)
            throws IOException {
        List<String> leftOut = new ArrayList<>();
        List<ControlGroups.Group> found = groups.find(search, leftOut::add);
        assertThat(leftOut).isEmpty();
        return found;
    }

    @Test
    void groupsAreFoundByTheirNames() throws IOException {
        group("/system.slice/nginx.service", "");
        group("/system.slice/other.service", "");
        ControlGroups groups = ControlGroups.of(Host.at(root));
        List<ControlGroups.Group> found =
                find(groups, named(names -> names.equals(List.of("system.slice", "nginx.service"))));
        assertThat(found).hasSize(1);
        assertThat(found.getFirst().path()).isEqualTo("/system.slice/nginx.service");
        assertThat(found.getFirst().id())
                .isEqualTo(Files.getAttribute(root.resolve("sys/fs/c group/system.slice/nginx.service"), "unix:ino"));
    }

    /** Those without a number in this process's pid namespace are listed as 0. */
    @Test
    void theProcessesOfAGroupAreThoseOfTheGroupsBelowItToo() throws IOException {
        group("/a", "");
        group("/a/b", "17\n4\n0\n");
        group("/a/b/c", "23\n");
        group("/d", "99\n");
        ControlGroups groups = ControlGroups.of(Host.at(root));
        ControlGroups.Group a =
                find(groups, named(names -> names.equals(List.of("a")))).getFirst();
        assertThat(groups.processes(a, path -> {})).containsExactlyInAnyOrder(4, 17, 23);
    }

    @Test
    void groupsBelowOneThatMatchesBelongToIt() throws IOException {
        group("/a/a", "");
        assertThat(find(ControlGroups.of(Host.at(root)), named(names -> !names.isEmpty())))
                .extracting(ControlGroups.Group::path)
                .containsExactly("/a");
    }

    @Test
    void aGroupThatIsGoneHasNoProcesses() throws IOException {
        group("/a", "4\n");
        ControlGroups groups = ControlGroups.of(Host.at(root));
        ControlGroups.Group a = find(groups, named(names -> !names.isEmpty())).getFirst();
        Files.delete(a.directory().resolve("cgroup.procs"));
        Files.delete(a.directory());
        assertThat(groups.processes(a, path -> {})).isEmpty();
    }

    /** A container may see its own group of the host by a bind mount, beside the root of its namespace. */
    @Test
    void theRootIsPreferredToABindMountOfOneGroup() throws IOException {
        mounts(
                "30 25 0:31 /a /mnt/a rw - cgroup2 none rw",
                "36 25 0:31 / /sys/fs/cgroup rw - cgroup2 none rw",
                "37 25 0:31 / /mnt/again rw - cgroup2 none rw");
        assertThat(ControlGroups.of(Host.at(root)).mount()).isEqualTo(root.resolve("sys/fs/cgroup"));
        mounts("30 25 0:31 /a /mnt/a rw - cgroup2 none rw");
        assertThat(ControlGroups.of(Host.at(root)).mount()).isEqualTo(root.resolve("mnt/a"));
    }

    /** The kernel lists no processes of a threaded group: the group above has them. */
    @Test
    void aThreadedGroupHasNoProcessesOfItsOwn() throws IOException {
        group("/a", "4\n");
        Path threaded = Files.createDirectories(root.resolve("sys/fs/c group/a/threaded"));
        Files.createSymbolicLink(threaded.resolve("cgroup.procs"), Path.of("cgroup.procs")); // can't be opened
        Files.writeString(threaded.resolve("cgroup.type"), "threaded\n");
        ControlGroups groups = ControlGroups.of(Host.at(root));
        ControlGroups.Group a =
                find(groups, named(names -> names.equals(List.of("a")))).getFirst();
        assertThat(groups.processes(a, path -> {})).containsExactly(4);
        Files.writeString(threaded.resolve("cgroup.type"), "domain\n");
        assertThatThrownBy(() -> groups.processes(a, path -> {})).isInstanceOf(IOException.class);
    }

    /** Root may own a directory, and yet let others make groups in it. */
    @Test
    void namesBelowADirectoryThatOthersMayWriteToAreNotTrusted() throws IOException {
        group("/a/nginx.service", "");
        Path a = root.resolve("sys/fs/c group/a");
        ControlGroups groups = ControlGroups.of(Host.at(root));
        ControlGroups.Search search = named(names -> names.equals(List.of("a", "nginx.service")));
        for (String rights : List.of("rwxrwxr-x", "rwxr-xrwx")) {
            Files.setPosixFilePermissions(a, PosixFilePermissions.fromString(rights));
            assertThat(find(groups, search)).as(rights).isEmpty();
            assertThat(find(groups, named(names -> names.equals(List.of("a")))))
                    .as("root has named it")
                    .hasSize(1);
        }
        Files.setPosixFilePermissions(a, PosixFilePermissions.fromString("rwxr-xr-x"));
        assertThat(find(groups, search)).hasSize(1);
    }

    /** Kernels before 4.5, and machines that mount version 1 alone. */
    @Test
    void aMachineWithoutThemSaysSo() throws IOException {
        mounts("25 20 0:22 / /sys rw - sysfs sysfs rw", "31 25 0:27 / /sys/fs/cgroup/cpu rw - cgroup none rw,cpu");
        assertThatThrownBy(() -> ControlGroups.of(Host.at(root)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no control groups of version 2 are mounted");
    }
}
