/** Access to the compiled BPF objects by name. */
package io.bpf4j.objects;
