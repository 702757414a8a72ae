/** Access to the compiled BPF objects. */
package io.bpf4j.objects;
