/** The subcommands, one per file: each reads its options, calls the library, prints the result. */
package io.bpf4j.cli.command;
