/**
 * Another process, its directories and its sockets, accessed by a process with more rights. The other process may
 * belong to any user, may end at any time, and may change its files and names at any time. So each operation starts
 * from an open file descriptor, and has no effect that the other process's user could not cause.
 */
@org.jspecify.annotations.NullMarked
package io.bpf4j.process.peer;
