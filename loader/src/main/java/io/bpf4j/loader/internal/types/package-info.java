/** The types of the running kernel and of loaded programs, as the kernel gives them. */
package io.bpf4j.loader.internal.types;
