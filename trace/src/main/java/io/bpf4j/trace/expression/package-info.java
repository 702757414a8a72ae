/**
 * The language of expressions, in which a question has its filters, keys and values, and what is wrong with a text that
 * is none: {@code arg0 > 50 && comm ~ "java*"}.
 *
 * {@snippet lang = "java":
 * UsdtScan allocations = UsdtScan.ofProcess(4711).matching("hotspot:object__alloc");
 * try (Answer answer = Question.on(allocations).where("size > 4KiB && class ~ \"java/util/*\"").by("class").open()) {
 *     Thread.sleep(10_000);
 *     answer.rows().forEach(row -> System.out.println(row.key().get("class") + ": " + row.count()));
 * } catch (ExpressionException e) {
 *     System.err.println(e.getMessage()); // the reason, and the expression with a mark at e.position()
 * }
 * }
 *
 * <p>The meaning of a name, and so the type of an expression, depends on the probes that it is evaluated for. The
 * operators are C's, with C's precedence. Numbers have 64 bits. {@link io.bpf4j.trace.expression.ValueType} has the
 * types of values, also for the arguments of events.
 *
 * <ul>
 *   <li>Names: {@code pid tid comm cpu uid cgroup nsecs probe provider}, {@code retval} where functions return, {@code
 *       true false}, {@code arg0} to {@code arg11} for the arguments, and the names that the catalog has for the
 *       probes. At the end of a pair, {@code begin.} before a name means its value at the begin.
 *   <li>Numbers: {@code 50}, {@code 0xff}, {@code 'a'}; a time in nanoseconds, {@code 1.5ms}, and a size in bytes,
 *       {@code 4KiB}. The units are ns, us, ms, s, m, h, and B, KB, MB, GB, KiB, MiB, GiB.
 *   <li>Operators, from the tightest-binding: {@code - ~ ! *} and casts such as {@code (u32)}; {@code * / %}; {@code +
 *       -}; {@code << >>}; {@code < > <= >=}; {@code == != ~ !~}; {@code &}; {@code ^}; {@code |}; {@code &&}; {@code
 *       ||}; {@code ?:}.
 *   <li>Memory of the process: {@code *(u64*)(arg1 + 8)}.
 *   <li>Text: {@code "…"} with C's escapes; {@code str(p)}, the text at an address up to NUL, of which at most 64 bytes
 *       are read; {@code str(p, 16)}, of which at most 16 are read; {@code str(p, n)}, n bytes, but at most 64; {@code
 *       str(p, n, 100)}, n bytes, but at most 100.
 *   <li>Patterns: {@code text ~ "SELECT*"}. {@code *} stands for any bytes, {@code ?} for one byte, {@code [a-z]} for
 *       one of a range, {@code [!x]} for any byte but x, {@code {a,b*}} for what one of the patterns matches. After a
 *       backslash, which is doubled in the text, a character stands for itself.
 * </ul>
 *
 * <p>A narrower operand is extended to 64 bits, by its own sign. An operation is unsigned if an operand is an unsigned
 * number of 64 bits, else signed. A shift is unsigned if its left operand is; its count is taken modulo 64. {@code x /
 * 0} is 0 and {@code x % 0} is x. {@code &&}, {@code ||} and {@code ?:} evaluate only the operands that they need. If
 * an argument or memory can't be read, the whole expression has no value. A comparison with a constant that the type of
 * the other side decides, such as {@code retval < 0}, is an error, and so is one of a register of a function with a
 * negative constant: {@code (int)arg0 == -1} says how much of the register counts.
 *
 * <p>A comparison of text uses the first 128 bytes in a filter, the first 64 in a key or a value, and half of that if
 * two texts of the process are compared. Longer text is compared as if it ended there. So a pattern that ends in
 * {@code *} matches text of any length.
 */
package io.bpf4j.trace.expression;
