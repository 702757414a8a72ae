package io.bpf4j.loader.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class NetDeviceTest {
    @Test
    void anIndexIsPositive() {
        assertThat(NetDevice.of(3).index()).hasValue(3);
        assertThat(NetDevice.of(3).name()).isEmpty();
        assertThatThrownBy(() -> NetDevice.of(0)).hasMessageContaining("indexes are positive");
    }

    /** The kernel takes 15 bytes, up to a NUL: what it would cut off could make the name that of another device. */
    @Test
    void aNameThatTheKernelWouldCutIsRefused() {
        assertThat(NetDevice.named("123456789012345").name().orElseThrow()).hasSize(15);
        assertThat(NetDevice.named("äöüßäöü").name().orElseThrow()).hasSize(7);
        for (String name : new String[] {"", "1234567890123456", "äöüßäöüß", "lo\0eth0", "\0"}) {
            assertThatThrownBy(() -> NetDevice.named(name))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("15 bytes");
        }
    }
}
