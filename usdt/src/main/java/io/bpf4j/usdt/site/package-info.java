/** What is known of a place with a probe: its addresses, its code, and where its arguments are. */
package io.bpf4j.usdt.site;
