package io.bpf4j.usdt.internal.note;

/**
 * What one note says, brought into the terms of the file. <b>Immutable</b>.
 *
 * @param arguments the argument string, not yet understood
 * @param address virtual address of the probe, prelink undone
 * @param fileOffset byte offset of the probe in the file
 * @param semaphoreAddress virtual address of the semaphore, prelink undone; 0 if there is none
 * @param semaphoreOffset byte offset of the semaphore in the file; 0 if there is none
 */
public record NoteSite(
        String provider,
        String name,
        String arguments,
        long address,
        long fileOffset,
        long semaphoreAddress,
        long semaphoreOffset) {}
