/** What the section names {@code usdt…} of BPF objects mean; found by the loader as a service. */
package io.bpf4j.usdt.internal.section;
