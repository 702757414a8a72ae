/** Names of C++ and Rust functions as their sources have them, from the symbols that compilers make of them. */
package io.bpf4j.trace.internal.demangle;
