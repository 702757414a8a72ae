/**
 * Executes a plan as one transaction: {@code BtfLoading}, {@code MapCreation} and {@code MapPinning}, {@code
 * ProgramLoading}, in the order that {@code LoadedObject} describes; and explains rejections by the kernel.
 */
package io.bpf4j.loader.internal.load;
