/** Answers as pages of HTML and as SVG: tables, histograms, and what happened over time. */
package io.bpf4j.cli.picture;
