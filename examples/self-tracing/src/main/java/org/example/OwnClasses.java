package org.example;

import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Question;
import io.bpf4j.usdt.UsdtScan;
import java.time.ZonedDateTime;

/**
 * A program that traces itself: which classes does its JVM load for a piece of work? The kernel counts them while the
 * work is done.
 *
 * <pre>java -jar target/self-tracing.jar</pre>
 */
public class OwnClasses {
    public static void main(String[] args) throws Exception {
        UsdtScan own = UsdtScan.ofProcess((int) ProcessHandle.current().pid());
        Question question = Question.on(own.matching("hotspot:class__loaded")).by("name");
        try (Answer answer = question.open()) {
            String work =
                    ZonedDateTime.parse("2026-01-02T03:04:05Z[Europe/Paris]").toString();
            answer.detach(); // what follows is not counted
            System.out.println("the work was " + work);
            answer.rows().stream()
                    .map(row -> row.key().get("name") + " " + row.count())
                    .filter(line -> line.startsWith("java/time/"))
                    .sorted()
                    .forEach(System.out::println);
        }
    }
}
