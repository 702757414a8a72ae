/** ELF files, read by hand: every offset is checked, and malformed input gives one exception type. */
package io.bpf4j.elf;
