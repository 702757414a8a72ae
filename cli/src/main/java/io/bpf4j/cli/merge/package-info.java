/** Reads answers that commands have printed as JSON, and adds them up. */
package io.bpf4j.cli.merge;
