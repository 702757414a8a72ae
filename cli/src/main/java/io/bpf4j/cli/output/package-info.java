/** The output of the command: lines, tables and JSON; handles a reader that closes its end. */
package io.bpf4j.cli.output;
