/** Questions on the command line: running them, and printing their answers. */
package io.bpf4j.cli.question;
