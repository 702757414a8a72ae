package io.bpf4j.elf;

/**
 * Input that breaks the rules of its format: cut short, an offset outside its container, a length that overflows.
 *
 * <p>Every parser of bpf4j throws this, and nothing else, for malformed bytes. <i>Immutable.</i>
 */
public final class MalformedDataException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What was read, as a person would name it: a path, or a section of a file. */
    private final String source;

    /** Where in the source the data is wrong, in bytes from its start. */
    private final long offset;

    public MalformedDataException(String source, long offset, String problem) {
        super(source + " at 0x" + Long.toHexString(offset) + ": " + problem);
        this.source = source;
        this.offset = offset;
    }

    public String source() {
        return source;
    }

    public long offset() {
        return offset;
    }
}
