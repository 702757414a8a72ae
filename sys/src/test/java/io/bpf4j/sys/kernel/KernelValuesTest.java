package io.bpf4j.sys.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class KernelValuesTest {
    @ParameterizedTest
    @CsvSource({
        "6.18.44-fc-v669,6,18,44",
        "6.1.0-18-amd64,6,1,0",
        "5.15,5,15,0",
        "4.19.304+,4,19,304",
        "6.12-rc3,6,12,0",
        "5.10.0.1,5,10,0"
    })
    void releasesAreRead(String release, int major, int minor, int patch) {
        assertThat(KernelVersion.parse(release)).isEqualTo(new KernelVersion(major, minor, patch));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "6", "linux", "6.", ".5", "v6.1"})
    void whatIsNoReleaseIsRefused(String release) {
        assertThatThrownBy(() -> KernelVersion.parse(release)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void versionsAreComparedByNumber() {
        assertThat(KernelVersion.of(5, 9)).isLessThan(KernelVersion.of(5, 10));
        assertThat(KernelVersion.of(6, 0)).isGreaterThan(new KernelVersion(5, 19, 17));
        assertThat(new KernelVersion(5, 10, 1))
                .isGreaterThan(KernelVersion.of(5, 10))
                .hasToString("5.10.1");
    }

    @Test
    void theCodeClampsThePatch() {
        assertThat(new KernelVersion(5, 15, 9).code()).isEqualTo(0x050f09);
        assertThat(new KernelVersion(4, 14, 336).code()).isEqualTo(0x040eff);
    }

    @Test
    void errorNumbersAreThoseOfLinux() {
        assertThat(Errno.of(1)).isEqualTo(Errno.EPERM);
        assertThat(Errno.of(11)).isEqualTo(Errno.EAGAIN);
        assertThat(Errno.of(95)).isEqualTo(Errno.EOPNOTSUPP);
        assertThat(Errno.of(524)).isEqualTo(Errno.ENOTSUPP);
        assertThat(Errno.of(0)).isEqualTo(Errno.OK);
        assertThat(Errno.of(41)).as("a gap").isEqualTo(Errno.UNKNOWN);
        assertThat(Errno.of(-5)).isEqualTo(Errno.UNKNOWN);
        assertThat(Errno.of(100_000)).isEqualTo(Errno.UNKNOWN);
    }

    @Test
    void errorsAreDescribedByNameAndText() {
        assertThat(Errno.describe(1)).isEqualTo("EPERM (Operation not permitted)");
        assertThat(Errno.describe(529)).isEqualTo("errno 529");
    }

    @ParameterizedTest
    @EnumSource(Errno.class)
    void eachNumberLeadsBack(Errno errno) {
        assertThat(Errno.of(errno.number())).isEqualTo(errno);
    }

    @Test
    void typesAreThoseOfTheKernelHeader() {
        assertThat(MapType.of(27)).contains(MapType.RINGBUF);
        assertThat(MapType.of(1000)).isEmpty();
        assertThat(ProgramType.of(2)).contains(ProgramType.KPROBE);
        assertThat(AttachType.of(48)).contains(AttachType.TRACE_UPROBE_MULTI);
        assertThat(MapType.PERCPU_ARRAY.isPerCpu()).isTrue();
        assertThat(MapType.ARRAY.isPerCpu()).isFalse();
    }

    @ParameterizedTest
    @EnumSource(Feature.class)
    void eachFeatureNamesItsCommit(Feature feature) {
        assertThat(feature.commit()).matches("[0-9a-f]{12}");
        assertThat(feature.since()).isGreaterThanOrEqualTo(KernelVersion.of(4, 15));
        assertThat(feature.description()).isNotBlank().doesNotEndWith(".");
    }
}
