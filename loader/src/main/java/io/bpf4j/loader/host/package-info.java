/** The machine that bpf4j works on, as one object: {@link io.bpf4j.loader.host.Host}. */
package io.bpf4j.loader.host;
