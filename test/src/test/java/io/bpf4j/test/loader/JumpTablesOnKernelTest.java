package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.TestRun;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A switch by a jump table, in a program and in a function that it calls. */
@Requires({Requirement.BPF, Requirement.JUMP_TABLES, Requirement.X86_64})
@ExtendWith(LeakCheck.class)
class JumpTablesOnKernelTest {
    @ParameterizedTest
    @CsvSource({
        "0, 111", // 1, 10, 100
        "1, 222", // 2, 20, 200
        "2, 133", // 3, 30, 100
        "3, 44", // 4, 40, beyond the program's table
        "4, 12" // 5, 7, beyond both
    })
    void eachCaseIsJumpedTo(long index, int expected) {
        byte[] numbers = ByteBuffer.allocate(8)
                .order(ByteOrder.nativeOrder())
                .putLong(index)
                .array();
        try (BpfObject object =
                Bpf.load("jump_table.bpf.o", loader -> loader.program("choose", p -> p.withAutoload(true)))) {
            assertThat(object.program("choose").test(TestRun.onContext(numbers)).returned())
                    .isEqualTo(expected);
        }
    }
}
