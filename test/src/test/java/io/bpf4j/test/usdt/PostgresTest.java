package io.bpf4j.test.usdt;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.POSTGRESQL;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.PostgresServer;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Semaphores;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TraceRecord;
import io.bpf4j.usdt.AttachStrategy;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A PostgreSQL server that runs: the SQL that psql sent is what its probe shows. Its sessions are processes that start
 * later, so the links are for all processes of the file.
 */
@Requires({BPF, POSTGRESQL})
@ExtendWith(LeakCheck.class)
class PostgresTest {
    private static final int STRING_MAX = 256;

    /** As readelf counts them in Debian's build. */
    private static final int PROBES_OF_15 = 57;

    @Test
    void theProbeShowsTheSqlThatPsqlRan() throws IOException, InterruptedException {
        String statement = "select 6 * 7 as answer, 'traced by bpf4j' as who";
        try (PostgresServer server = PostgresServer.start();
                BpfObject object = Strategy.MULTI
                        .loader("trace.bpf.o")
                        .global("string_mode", new byte[] {1})
                        .global("string_max", STRING_MAX)
                        .load();
                UsdtLink link = Usdt.of(object)
                        .attach(
                                object.program("trace"),
                                UsdtScan.ofFile(server.executable()).matching("postgresql:query__start"));
                RingBuffer ring = RingBuffer.open(object.map("events"))) {
            assertThat(link.siteCount()).isPositive();
            assertThat(server.sql(statement)).contains("42");

            List<TraceRecord> records = Bpf.recordsNow(ring).stream()
                    .map(record -> TraceRecord.of(record, List.of(0), STRING_MAX))
                    .toList();
            assertThat(records).extracting(record -> record.text(0)).contains(statement);
            assertThat(records).allSatisfy(record -> assertThat(record.comm()).startsWith("postgres"));
        }
    }

    /** Two of them have an argument that names a symbol, for which libbpf refuses them. */
    @Test
    void allProbesOfTheServerAttachByOneCall() throws IOException, InterruptedException {
        try (PostgresServer server = PostgresServer.start();
                BpfObject object = Strategy.MULTI.loader("counters.bpf.o", 0).load()) {
            List<UsdtProbe> probes = UsdtScan.ofFile(server.executable()).probes();
            if (server.version() == 15) {
                assertThat(probes).hasSize(PROBES_OF_15);
            }
            assertThat(probes).hasSizeGreaterThan(50);
            assertNobodyListens(server, probes);
            try (UsdtLink link = Usdt.of(object).attach(object.program("count"), probes)) {
                assertThat(link.strategy()).isEqualTo(AttachStrategy.MULTI);
                assertThat(link.probes()).isEqualTo(probes);
                assertThat(link.problems()).isEmpty();
                assertThat(Semaphores.of(server.pid(), probes).values()).allMatch(count -> count > 0);
                server.sql("select 1");
                assertThat(Bpf.u64(object, "total")).isGreaterThan(5);
                assertThat(Bpf.u64(object, "no_spec")).isZero();
            }
            assertNobodyListens(server, probes);
            assertThat(Usdt.of(object).specIdsInUse()).isZero();
            long total = Bpf.u64(object, "total");
            server.sql("select 1");
            assertThat(Bpf.u64(object, "total")).isEqualTo(total);
        }
    }

    private static void assertNobodyListens(PostgresServer server, List<UsdtProbe> probes) throws IOException {
        assertThat(Semaphores.of(server.pid(), probes).values())
                .hasSize(probes.size())
                .allMatch(count -> count == 0);
    }
}
