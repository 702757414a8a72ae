/**
 * Another process, its folders and its sockets, for a process with more rights. The other process may belong to
 * anybody, may end while it is looked at, and may change its files and names at any time. So each step begins at
 * something that is held open, and nothing is done that the other process's user could not do alone.
 */
@org.jspecify.annotations.NullMarked
package io.bpf4j.process.peer;
