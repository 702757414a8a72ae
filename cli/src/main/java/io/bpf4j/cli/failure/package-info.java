/** How a failure reaches a person: one line that says what failed, on which thing, why, and what to do. */
package io.bpf4j.cli.failure;
