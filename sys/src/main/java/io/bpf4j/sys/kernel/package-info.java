/**
 * The kernel's vocabulary as plain values: error numbers, kinds of map and program, attach types, versions, features,
 * and the kernel's information about a map or a program.
 *
 * <p>It uses no other package of the module, and does not access the running kernel.
 */
package io.bpf4j.sys.kernel;
