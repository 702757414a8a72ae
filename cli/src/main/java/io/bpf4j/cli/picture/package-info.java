/** Answers as HTML pages and as SVG: tables, histograms, and heat maps of events over time. */
package io.bpf4j.cli.picture;
