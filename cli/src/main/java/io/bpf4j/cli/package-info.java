/** The command line: thin commands over the library. */
package io.bpf4j.cli;
