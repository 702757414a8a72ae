package io.bpf4j.cli.failure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PrivilegesTest {
    private static final long BPF = 1L << 39;
    private static final long PERFMON = 1L << 38;
    private static final long SYS_ADMIN = 1L << 21;

    @Test
    void namesTheCapabilitiesAndTheSysctls() {
        assertThat(new Privileges(0, "2", "3").missing())
                .contains("this process lacks CAP_BPF and CAP_PERFMON (kernel.unprivileged_bpf_disabled=2,"
                        + " kernel.perf_event_paranoid=3); run it as root or give it these capabilities");
        assertThat(new Privileges(BPF, "", "").missing())
                .contains("this process lacks CAP_PERFMON; run it as root or give it these capabilities");
    }

    @Test
    void claimsNothingWhereNothingKnownIsMissing() {
        assertThat(new Privileges(BPF | PERFMON, "2", "3").missing()).isEmpty();
        assertThat(new Privileges(SYS_ADMIN, "2", "3").missing()).isEmpty();
    }

    @Test
    void readsTheEffectiveSet() {
        assertThat(Privileges.parseEffective("Name:\tjava\nCapInh:\t0000000000000000\nCapEff:\t000001fffeffffff\n"))
                .isEqualTo(0x1fffeffffffL);
        assertThat(Privileges.parseEffective("Name:\tjava\n")).isEqualTo(-1);
        assertThat(Privileges.parseEffective("CapEff:\tnonsense\n")).isEqualTo(-1);
    }
}
