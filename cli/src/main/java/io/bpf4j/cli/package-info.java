/** The command line: thin commands over the library's public API. */
package io.bpf4j.cli;
