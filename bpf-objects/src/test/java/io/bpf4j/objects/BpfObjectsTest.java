package io.bpf4j.objects;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

/**
 * That what is shipped is BPF, and holds no path of the machine that compiled it, is tested beside all other objects.
 */
class BpfObjectsTest {
    @Test
    void objectsComeInTheOrderThatIsAskedFor() {
        // e_ident[EI_DATA]: ELFDATA2LSB or ELFDATA2MSB
        assertThat(BpfObjects.tracer(ByteOrder.LITTLE_ENDIAN)[5]).isEqualTo((byte) 1);
        assertThat(BpfObjects.tracer(ByteOrder.BIG_ENDIAN)[5]).isEqualTo((byte) 2);
        assertThat(BpfObjects.tracer()).isEqualTo(BpfObjects.tracer(ByteOrder.nativeOrder()));
        assertThat(BpfObjects.question(ByteOrder.LITTLE_ENDIAN)[5]).isEqualTo((byte) 1);
        assertThat(BpfObjects.question(ByteOrder.BIG_ENDIAN)[5]).isEqualTo((byte) 2);
        assertThat(BpfObjects.question()).isEqualTo(BpfObjects.question(ByteOrder.nativeOrder()));
    }

    @Test
    void everyCallGivesBytesOfItsOwn() {
        BpfObjects.tracer()[0] = 0;
        assertThat(BpfObjects.tracer()).startsWith(0x7f, 'E', 'L', 'F');
    }
}
