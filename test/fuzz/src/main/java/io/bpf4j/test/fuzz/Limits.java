package io.bpf4j.test.fuzz;

/**
 * What inputs are made for a {@link FuzzTarget}, and what one of them may take: some memory and steps, and more for
 * each of its bytes. <i>Immutable.</i>
 *
 * @param executions how many changed inputs a test reads
 * @param maxLength the longest input that is made, in bytes
 * @param bytes of memory for any input
 * @param bytesPerByte the memory for each byte of the input, in bytes
 * @param steps blocks of code for any input
 * @param stepsPerByte blocks of code for each byte of the input
 */
public record Limits(int executions, int maxLength, long bytes, long bytesPerByte, long steps, long stepsPerByte) {
    /** 1,000 inputs of up to 4 KiB; 1 MiB and 100,000 steps for any input, and 2,000 of both for each byte. */
    public static final Limits USUAL = new Limits(1_000, 1 << 12, 1 << 20, 2_000, 100_000, 2_000);

    /** For a parser that takes long, or starts slowly. */
    public Limits withExecutions(int number) {
        return new Limits(number, maxLength, bytes, bytesPerByte, steps, stepsPerByte);
    }

    public Limits withMaxLength(int length) {
        return new Limits(executions, length, bytes, bytesPerByte, steps, stepsPerByte);
    }

    public Limits withBytes(long any, long perByte) {
        return new Limits(executions, maxLength, any, perByte, steps, stepsPerByte);
    }

    public Limits withSteps(long any, long perByte) {
        return new Limits(executions, maxLength, bytes, bytesPerByte, any, perByte);
    }

    /** The most memory for an input of so many bytes. */
    long bytesFor(int size) {
        return bytes + bytesPerByte * size;
    }

    /** The most steps for an input of so many bytes. */
    long stepsFor(int size) {
        return steps + stepsPerByte * size;
    }
}
