package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.Program.TextStream;
import io.bpf4j.loader.TestRun;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What programs print. */
@Requires({Requirement.BPF, Requirement.STREAMS})
@ExtendWith(LeakCheck.class)
class ProgramStreamsTest {
    @Test
    void aStreamWithoutTextIsEmpty() {
        try (BpfObject object = load()) {
            for (TextStream stream : TextStream.values()) {
                assertThat(object.program("say").readStream(stream)).isEmpty();
            }
        }
    }

    @Test
    @Requires(Requirement.STREAM_MEMORY)
    void eachStreamHasItsText() throws Exception {
        try (BpfObject object = load()) {
            Program say = object.program("say");
            assertThat(say.readStream(TextStream.OUT)).isEmpty();
            StringBuilder out = new StringBuilder();
            StringBuilder err = new StringBuilder();
            say(object, out, err);
            assertThat(say.readStream(TextStream.OUT)).isEqualTo(out.toString());
            assertThat(say.readStream(TextStream.OUT)).as("taken out").isEmpty();
            assertThat(say.readStream(TextStream.ERR)).isEqualTo(err.toString());
        }
    }

    @Test
    @Requires(Requirement.STREAM_MEMORY)
    void muchTextComesInOrder() throws Exception {
        try (BpfObject object = load()) {
            Program say = object.program("say");
            StringBuilder out = new StringBuilder();
            StringBuilder err = new StringBuilder();
            for (int i = 0; i < 2000; i++) {
                say(object, out, err);
            }
            assertThat(say.readStream(TextStream.OUT))
                    .hasSizeGreaterThan(32 << 10)
                    .isEqualTo(out.toString());
            assertThat(say.readStream(TextStream.ERR)).isEqualTo(err.toString());
        }
    }

    private static BpfObject load() {
        return Bpf.load("streams.bpf.o", loader -> loader.program("say", p -> p.withAutoload(true)));
    }

    /**
     * Prints a number to each stream, and appends what was printed. The kernel takes no memory for it where it would
     * have to wait for a lock: then the program ends with ENOMEM, and the next run goes on with the next number.
     */
    private static void say(BpfObject object, StringBuilder out, StringBuilder err)
            throws IOException, InterruptedException {
        Await.until("a program that the kernel gives memory for its text", () -> {
            long before = Bpf.u64(object, "number");
            int returned = object.program("say").test(TestRun.once()).returned();
            assertThat(returned).isIn(0, Errno.ENOMEM.number());
            if (Bpf.u64(object, "number") == before + 2) {
                out.append(text(before + 1));
            }
            if (returned == 0) {
                err.append(text(before + 2));
            }
            return returned == 0;
        });
    }

    private static String text(long number) {
        return "number " + number + " of streams\n";
    }
}
