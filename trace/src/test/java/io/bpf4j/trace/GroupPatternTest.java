package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.trace.GroupPattern.Kind;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GroupPatternTest {
    private static final String ID = "3f2a9c0d1e4b" + "5".repeat(52);
    private static final String UID = "1a2b3c4d-0001-4aaa-8bbb-0123456789ab";
    private static final String UID_OF_SLICE = UID.replace('-', '_');

    private static List<String> names(String path) {
        return Arrays.stream(path.split("/", -1))
                .filter(name -> !name.isEmpty())
                .toList();
    }

    private static boolean takes(Kind kind, String text, String path) {
        return new GroupPattern(kind, text).matches(names(path), true);
    }

    /** As the runtimes of containers make them, with and without systemd. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/system.slice/docker-ID.scope",
                "/docker/ID",
                "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podU.slice/cri-containerd-ID.scope",
                "/kubepods.slice/kubepods-podU.slice/crio-ID.scope",
                "/kubepods/besteffort/podU/ID",
                "/machine.slice/libpod-ID.scope",
                "/libpod_parent/libpod-ID",
                "/system.slice/nerdctl-ID.scope",
            })
    void aContainerIsFoundByItsId(String path) {
        String full = path.replace("ID", ID).replace("podU", "pod" + UID_OF_SLICE);
        assertThat(takes(Kind.CONTAINER, ID, full)).isTrue();
        assertThat(takes(Kind.CONTAINER, ID.substring(0, 12), full)).isTrue();
        assertThat(takes(Kind.CONTAINER, "a" + ID.substring(0, 12), full)).isFalse();
        assertThat(new GroupPattern(Kind.CONTAINER, ID).matches(names(full), false))
                .isFalse();
    }

    @Test
    void theMonitorOfAContainerIsNotTheContainer() {
        assertThat(takes(Kind.CONTAINER, ID, "/machine.slice/libpod-conmon-" + ID + ".scope"))
                .isFalse();
        assertThat(takes(Kind.CONTAINER, ID, "/system.slice/crio-conmon-" + ID + ".scope"))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUU.slice",
                "/kubepods.slice/kubepods-podUU.slice",
                "/kubepods/burstable/podU",
                "/kubepods/podU"
            })
    void aPodIsFoundByItsUid(String path) {
        String full = path.replace("UU", UID_OF_SLICE).replace("podU", "pod" + UID);
        assertThat(takes(Kind.POD, UID, full)).isTrue();
        assertThat(takes(Kind.POD, UID, full + "/crio-" + ID + ".scope")).isFalse();
        assertThat(takes(Kind.POD, UID.replace("1a", "1b"), full)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "nginx.service, /system.slice/nginx.service, true",
        "nginx, /system.slice/nginx.service, true",
        "ng*, /system.slice/nginx.service, true",
        "nginx, /system.slice/nginx.socket, false",
        "postgresql@15-main, /system.slice/system-postgresql.slice/postgresql@15-main.service, true",
        "postgresql@*, /system.slice/system-postgresql.slice/postgresql@15-main.service, true",
        "session-3.scope, /user.slice/user-1000.slice/session-3.scope, true",
        "user.slice, /user.slice, true",
        // The groups below a service belong to whom the service gives them.
        "nginx, /user.slice/user-1000.slice/user@1000.service/app.slice/nginx.service, false",
    })
    void aUnitIsOneOfTheSystem(String text, String path, boolean expected) {
        assertThat(takes(Kind.UNIT, text, path)).isEqualTo(expected);
    }

    @Test
    void aPathHasAPatternForEachName() {
        GroupPattern groups = new GroupPattern(Kind.CGROUP, "/user.slice/user-*.slice");
        assertThat(groups.matches(names("/user.slice/user-7.slice"), false)).isTrue();
        assertThat(groups.matches(names("/user.slice/user-7.slice/x"), false)).isFalse();
        assertThat(groups.matches(names("/user.slice"), false)).isFalse();
        assertThat(groups.descends(names("/user.slice"), false)).isTrue();
        assertThat(groups.descends(names("/system.slice"), false)).isFalse();
        assertThat(new GroupPattern(Kind.CGROUP, "/").matches(List.of(), true)).isTrue();
    }

    /** Another user's folders are not looked at: he may have made many, of any name. */
    @Test
    void otherUsersDoNotNameUnits() {
        GroupPattern unit = new GroupPattern(Kind.UNIT, "nginx");
        assertThat(unit.matches(names("/other.slice/nginx.service"), false)).isFalse();
        assertThat(unit.descends(names("/other.slice"), true)).isTrue();
        assertThat(unit.descends(names("/other.slice"), false)).isFalse();
        assertThat(unit.descends(names("/system.slice/x.service"), true)).isFalse();
        assertThat(new GroupPattern(Kind.CONTAINER, ID).descends(names("/any"), false))
                .isFalse();
    }

    /** Root of a container may make groups in it, with any name. */
    @Test
    void whatIsInAContainerIsNoOtherContainerOrPod() {
        String other = ID.replace('5', '6');
        for (Kind kind : List.of(Kind.CONTAINER, Kind.POD)) {
            GroupPattern groups = new GroupPattern(kind, kind == Kind.POD ? UID : ID);
            assertThat(groups.descends(List.of(), true)).isTrue();
            assertThat(groups.descends(names("/system.slice"), true)).isTrue();
            assertThat(groups.descends(names("/kubepods/pod" + UID.replace("1a", "1b")), true))
                    .isTrue();
            assertThat(groups.descends(names("/machine.slice/libpod-conmon-" + other + ".scope"), true))
                    .isTrue();
            assertThat(groups.descends(names("/system.slice/docker-" + other + ".scope"), true))
                    .isFalse();
            assertThat(groups.descends(names("/docker/" + other), true)).isFalse();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "UNIT, a/b, is not a unit of systemd",
        "CONTAINER, web, is not the id of a container",
        "CONTAINER, 3f2a9c0d1e4, at least its first 12 digits",
        "POD, web-1, is not the uid of a pod",
        "CGROUP, system.slice, it begins with /",
    })
    void whatIsNoNameIsRefused(Kind kind, String text, String why) {
        assertThatThrownBy(() -> new GroupPattern(kind, text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(why);
    }
}
