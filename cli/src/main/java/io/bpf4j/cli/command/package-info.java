/** The subcommands, one in each file: each reads its options, calls the library, and prints the result. */
package io.bpf4j.cli.command;
