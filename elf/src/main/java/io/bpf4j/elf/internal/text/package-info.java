/**
 * Text that may have any bytes: strings that end with NUL, as in string tables and names of the kernel, and names of
 * files; and the nearest of several names. It uses no other package.
 */
package io.bpf4j.elf.internal.text;
