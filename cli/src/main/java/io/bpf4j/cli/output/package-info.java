/** What the command prints: lines, tables and JSON, and a reader that goes away. */
package io.bpf4j.cli.output;
