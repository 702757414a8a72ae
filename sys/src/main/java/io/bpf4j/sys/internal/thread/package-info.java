/** Threads of this process. It uses no other package of the module. */
@org.jspecify.annotations.NullMarked
package io.bpf4j.sys.internal.thread;
