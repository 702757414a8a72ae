/** The agent: the lines of its file, the running questions, and the HTTP server for scrapes. */
package io.bpf4j.cli.export;
