/** The agent: the lines of its file, the questions that are asked, and the server that readers of metrics ask. */
package io.bpf4j.cli.export;
