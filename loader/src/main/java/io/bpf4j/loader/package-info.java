/** From an object file to maps and programs in the kernel, and back out again. */
package io.bpf4j.loader;
