package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.trace.GroupPattern.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GroupNamesTest {
    private static final String ID = "3f2a9c0d1e4b" + "5".repeat(52);
    private static final String UID = "1a2b3c4d-0001-4aaa-8bbb-0123456789ab";
    private static final String POD =
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + UID.replace('-', '_') + ".slice";

    @TempDir
    Path root;

    @BeforeEach
    void mount() throws IOException {
        Files.createDirectories(root.resolve("proc/self"));
        Files.writeString(root.resolve("proc/self/mountinfo"), "36 25 0:31 / /groups rw - cgroup2 none rw\n");
        Files.createDirectory(root.resolve("groups"));
    }

    private long group(String path) throws IOException {
        return (Long) Files.getAttribute(Files.createDirectories(root.resolve("groups" + path)), "unix:ino");
    }

    private GroupNames names() throws IOException {
        return new GroupNames(Host.at(root));
    }

    private static List<String> of(GroupNames names, long id) {
        return List.of(names.name(Kind.UNIT, id), names.name(Kind.CONTAINER, id), names.name(Kind.POD, id));
    }

    @Test
    void aGroupBelongsToWhatIsNamedLastOnTheWay() throws IOException {
        long none = group("");
        long service = group("/system.slice/nginx.service");
        long worker = group("/system.slice/nginx.service/worker");
        long slice = group("/user.slice");
        long docker = group("/system.slice/docker-" + ID + ".scope");
        long bare = group("/docker/" + ID + "/init.scope");
        long pod = group(POD + "/cri-containerd-" + ID + ".scope/inner");
        GroupNames names = names();
        assertThat(of(names, none)).containsExactly("", "", "");
        assertThat(of(names, service)).containsExactly("nginx.service", "", "");
        assertThat(of(names, worker)).isEqualTo(of(names, service));
        assertThat(of(names, slice)).containsExactly("user.slice", "", "");
        assertThat(of(names, docker)).containsExactly("docker-" + ID + ".scope", ID, "");
        assertThat(of(names, bare)).as("systemd in a container").containsExactly("", ID, "");
        assertThat(of(names, pod)).containsExactly("cri-containerd-" + ID + ".scope", ID, UID);
        assertThat(names.hint()).isEmpty();
    }

    /** Whoever may make groups below could pretend to be another container. */
    @Test
    void namesBelowAGroupThatOthersMayChangeDoNotCount() throws IOException {
        long forged = group("/user.slice/mine/docker-" + ID + ".scope");
        Files.setPosixFilePermissions(
                root.resolve("groups/user.slice/mine"), PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThat(of(names(), forged)).containsExactly("user.slice", "", "");
    }

    /** Root of a container may make groups in it, with any name. */
    @Test
    void whatIsInAContainerBelongsToIt() throws IOException {
        long inner = group("/docker/" + ID + "/docker/" + ID.replace('5', '6') + "/kubepods/pod" + UID);
        assertThat(of(names(), inner)).containsExactly("", ID, "");
    }

    /** It would keep the reader busy, and others' groups without names. */
    @Test
    void aUserWhoMakesManyGroupsIsLeftOut() throws IOException {
        Path mine = root.resolve("groups/user.slice/mine");
        group("/user.slice/mine");
        Files.setPosixFilePermissions(mine, PosixFilePermissions.fromString("rwxrwxrwx"));
        for (int i = 0; i < 4_200; i++) {
            Files.createDirectory(mine.resolve("g" + i));
        }
        long deep = group("/user.slice/mine" + "/a".repeat(40));
        long service = group("/system.slice/nginx.service");
        GroupNames names = names();
        assertThat(of(names, service)).containsExactly("nginx.service", "", "");
        assertThat(names.name(Kind.UNIT, deep)).startsWith("cgroup:");
        assertThat(names.hint().orElseThrow().message()).contains("one of too many that another user has made");
    }

    @Test
    void aGroupThatComesLaterIsFoundAndOneThatIsGoneKeepsItsName() throws IOException {
        long first = group("/system.slice/first.service");
        GroupNames names = names();
        long second = group("/system.slice/second.service");
        names.find(List.of(first, second));
        Files.delete(root.resolve("groups/system.slice/first.service"));
        Files.delete(root.resolve("groups/system.slice/second.service"));
        names.find(List.of(first, second, 4711L));
        assertThat(names.name(Kind.UNIT, first)).isEqualTo("first.service");
        assertThat(names.name(Kind.UNIT, second)).isEqualTo("second.service");
        assertThat(names.name(Kind.UNIT, 4711)).isEqualTo("cgroup:4711");
        assertThat(names.hint()).hasValueSatisfying(hint -> {
            assertThat(hint.kind()).isEqualTo(Diagnostic.Kind.UNNAMED);
            assertThat(hint.message()).startsWith("a control group has no name here, because it had ended");
        });
    }

    @Test
    void aNameHasEndedWhenNoGroupHasIt() throws IOException {
        long service = group("/system.slice/nginx.service/worker");
        group(POD + "/cri-containerd-" + ID + ".scope/inner");
        GroupNames names = names();
        assertThat(names.name(Kind.UNIT, service)).isEqualTo("nginx.service");
        assertThat(names.hasEnded(Kind.UNIT, "nginx.service")).isFalse();
        assertThat(names.hasEnded(Kind.UNIT, "other.service")).isTrue();
        assertThat(names.hasEnded(Kind.CONTAINER, ID)).isFalse();
        assertThat(names.hasEnded(Kind.CONTAINER, ID.replace('5', '6'))).isTrue();
        assertThat(names.hasEnded(Kind.POD, UID)).isFalse();
        assertThat(names.hasEnded(Kind.POD, ID)).isTrue();
        assertThat(names.hasEnded(Kind.UNIT, "")).as("what belongs to none").isFalse();
        assertThat(names.hasEnded(Kind.UNIT, "cgroup:4711"))
                .as("it may be invisible here")
                .isFalse();
        Files.delete(root.resolve("groups/system.slice/nginx.service/worker"));
        Files.delete(root.resolve("groups/system.slice/nginx.service"));
        names.find(List.of(4711L));
        assertThat(names.hasEnded(Kind.UNIT, "nginx.service")).isTrue();
        assertThat(names.name(Kind.UNIT, service))
                .as("its events keep their name")
                .isEqualTo("nginx.service");
    }

    /** A user who makes many groups can't keep the series of others from ending, nor have them end too early. */
    @Test
    void groupsThatOthersHaveMadeEndNothing() throws IOException {
        group("/user.slice/mine");
        Path mine = root.resolve("groups/user.slice/mine");
        Files.setPosixFilePermissions(mine, PosixFilePermissions.fromString("rwxrwxrwx"));
        for (int i = 0; i < 4_200; i++) {
            Files.createDirectory(mine.resolve("g" + i));
        }
        group("/user.slice/mine/" + ID);
        group("/system.slice/nginx.service");
        GroupNames names = names();
        assertThat(names.hasEnded(Kind.UNIT, "nginx.service")).isFalse();
        assertThat(names.hasEnded(Kind.UNIT, "user.slice")).isFalse();
        assertThat(names.hasEnded(Kind.CONTAINER, ID))
                .as("its name does not count")
                .isTrue();
        assertThat(names.hasEnded(Kind.UNIT, "other.service")).isTrue();
    }

    @Test
    void aSearchThatFailsIsSaid() throws IOException {
        group("");
        GroupNames names = names();
        Files.delete(root.resolve("groups"));
        names.find(List.of(4711L));
        assertThat(names.name(Kind.POD, 4711)).isEqualTo("cgroup:4711");
        assertThat(names.hint().orElseThrow().message()).contains("the search of control groups failed: ");
        Files.writeString(root.resolve("proc/self/mountinfo"), "");
        assertThatThrownBy(this::names).hasMessageContaining("mount -t cgroup2");
    }

    @Test
    void groupsOfVersion1AreAReasonForNamesThatAreMissing() throws IOException {
        Files.writeString(
                root.resolve("proc/cgroups"), "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t0\t9\t1\n");
        assertThat(names().hint()).isEmpty();
        Files.writeString(
                root.resolve("proc/cgroups"), "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t3\t9\t1\n");
        assertThat(names().hint().orElseThrow().message()).contains("also uses control groups of version 1");
    }
}
