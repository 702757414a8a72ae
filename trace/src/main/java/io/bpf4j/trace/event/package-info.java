/**
 * Events of probes with all their arguments, as {@link io.bpf4j.trace.EventStream} hands them out.
 *
 * {@snippet lang = "java":
 * try (EventStream events = Question.on(Target.command("java", "-version"), "hotspot:class__loaded").openEvents()) {
 *     events.forEach((event, probe) -> {
 *         for (int n = 0; n < event.argCount(); n++) {
 *             String value = switch (event.form(n)) {
 *                 case NUMBER -> Long.toString(event.bits(n));
 *                 case TEXT -> new String(event.text(n), StandardCharsets.UTF_8);
 *                 case NO_TEXT, UNREADABLE -> "?";
 *             };
 *             System.out.println(event.pid() + " " + probe.id() + " " + probe.argument(n) + "=" + value);
 *         }
 *     });
 * }
 * }
 */
@org.jspecify.annotations.NullMarked
package io.bpf4j.trace.event;
