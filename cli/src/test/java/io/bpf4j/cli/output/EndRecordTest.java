package io.bpf4j.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.Diagnostic;
import java.util.List;
import org.junit.jupiter.api.Test;

class EndRecordTest {
    @Test
    void anAnswerThatLacksNothingIsExact() {
        assertThat(new EndRecord(3, 0)
                        .without("still_open", 1)
                        .without("unpaired_ends", 0)
                        .lacking("unreadable", 0, "left out")
                        .json(List.of()))
                .isEqualTo("{\"type\":\"end\",\"events\":3,\"lost\":0,\"still_open\":1,\"exact\":true}");
    }

    @Test
    void whatPrecedesIsCounted() {
        assertThat(new EndRecord(3, 0).after(2, 1).without("still_open", 1).json(List.of()))
                .isEqualTo("{\"type\":\"end\",\"events\":3,\"lost\":0,\"intervals\":2,\"shown\":1,\"still_open\":1,"
                        + "\"exact\":true}");
        assertThat(new EndRecord(3, 0).after(0, 0).json(List.of())).doesNotContain("intervals", "shown");
    }

    @Test
    void eachLackIsAReason() {
        assertThat(new EndRecord(3, 2)
                        .because(List.of(new Diagnostic(Diagnostic.Kind.LATE, "process 7", "a process was not held")))
                        .lacking("unreadable", 1, "left out")
                        .json(List.of(
                                Remark.of("stacks end early"),
                                Remark.of(new Diagnostic(Diagnostic.Kind.LEFT_OUT, "", "a \"file\"")))))
                .isEqualTo("{\"type\":\"end\",\"events\":3,\"lost\":2,\"unreadable\":1,\"exact\":false,"
                        + "\"reason\":\"2 events not shown, because they came too fast; a process was not held;"
                        + " 1 event left out\",\"gaps\":[{\"kind\":\"late\",\"subject\":\"process 7\","
                        + "\"message\":\"a process was not held\"}],\"remarks\":[{\"message\":\"stacks end early\"},"
                        + "{\"kind\":\"left_out\",\"message\":\"a \\\"file\\\"\"}]}");
    }
}
