/** The description of a site: its addresses, its code, and the locations of its arguments. */
package io.bpf4j.usdt.site;
