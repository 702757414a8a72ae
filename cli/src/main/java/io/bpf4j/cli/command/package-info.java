/** The subcommands, one a file: each reads its options, asks the library, prints the answer. */
package io.bpf4j.cli.command;
