/**
 * Does what a plan says, as one transaction: {@code BtfLoading}, {@code MapCreation} and {@code MapPinning}, {@code
 * ProgramLoading}, in the order that {@code LoadedObject} tells; and explains what the kernel refuses.
 */
package io.bpf4j.loader.internal.load;
