/** Demangles the symbols of C++ and Rust functions into the names that the source code has. */
package io.bpf4j.trace.internal.demangle;
