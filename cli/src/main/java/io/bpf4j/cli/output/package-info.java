/** The output of the command: lines, tables, JSON, and the terminal. */
package io.bpf4j.cli.output;
