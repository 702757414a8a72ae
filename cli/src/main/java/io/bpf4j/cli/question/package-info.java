/** Answers on the command line: tables, histograms and lines over time; and the user's own catalog. */
package io.bpf4j.cli.question;
