/** Error messages for the user: one line that says what failed, on which object, why, and what to do. */
package io.bpf4j.cli.failure;
