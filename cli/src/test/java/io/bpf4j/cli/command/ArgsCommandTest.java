package io.bpf4j.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ArgsCommandTest {
    @Test
    void jsonHasTheFieldsThatApplyToEachKind() {
        Run run = Run.of("args", "--machine", "x86_64", "--json", "-4@-20(%rbp) 8@%al -8@$-9 -4@4(%rcx,%r9,8) 8f@%rdx");
        assertThat(run.code()).isEqualTo(CommandTree.OK);
        assertThat(run.out())
                .containsExactly(
                        "{\"type\":\"args\",\"args\":\"-4@-20(%rbp) 8@%al -8@$-9 -4@4(%rcx,%r9,8) 8f@%rdx\",\"parsed\":["
                                + "{\"size\":4,\"signed\":true,\"kind\":\"dereference\",\"register\":\"rbp\",\"offset\":-20,\"float\":false},"
                                + "{\"size\":8,\"signed\":false,\"kind\":\"register\",\"register\":\"rax\",\"float\":false},"
                                + "{\"size\":8,\"signed\":true,\"kind\":\"constant\",\"value\":-9,\"float\":false},"
                                + "{\"size\":4,\"signed\":true,\"kind\":\"sib\",\"register\":\"rcx\",\"offset\":4,\"index\":\"r9\",\"scale\":8,\"float\":false},"
                                + "{\"size\":8,\"signed\":false,\"kind\":\"register\",\"register\":\"rdx\",\"float\":true}]}");
    }

    @Test
    void symbolsAndWhatCannotBeReadAreNamed() {
        Run run = Run.of("args", "--machine", "x86_64", "--json", "-4@24+counters(%rip) 8f@%xmm0");
        assertThat(run.out())
                .singleElement()
                .asString()
                .contains(
                        "\"kind\":\"dereference\",\"register\":\"rip\",\"offset\":24,\"symbol\":\"counters\",\"float\":false")
                .contains("\"kind\":\"unsupported\",\"float\":true,\"reason\":\"");
    }

    @Test
    void readsLinesOfStandardInputAndKeepsTheirOrder() {
        Run run = Run.withInput("8@%rax\n\n-4@$1\n", "args", "--machine", "x86_64", "--json", "-");
        assertThat(run.out()).hasSize(3);
        assertThat(run.out().get(1)).isEqualTo("{\"type\":\"args\",\"args\":\"\",\"parsed\":[]}");
        assertThat(run.out().get(2)).contains("\"value\":1");
    }

    @Test
    void textSaysWhatAndWhere() {
        Run run = Run.of("args", "--machine", "x86_64", "-4@-20(%rbp) 8@8(%rcx,%r9,8) 4f@%eax");
        assertThat(run.out())
                .containsExactly(
                        "-4@-20(%rbp) 8@8(%rcx,%r9,8) 4f@%eax",
                        "  arg0  signed 4 bytes    memory at rbp-20",
                        "  arg1  unsigned 8 bytes  memory at rcx+r9*8+8",
                        "  arg2  float             register rax");
    }
}
