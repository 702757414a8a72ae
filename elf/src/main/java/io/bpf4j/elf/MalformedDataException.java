package io.bpf4j.elf;

/**
 * Input that breaks the rules of its format: cut short, an offset outside its container, a length that overflows.
 *
 * <p>Every parser of bpf4j throws this exception, and no other, for malformed bytes. <i>Immutable.</i>
 */
public final class MalformedDataException extends Bpf4jException {
    private static final long serialVersionUID = 1L;

    /** The readable name of the source: a path, or a section of a file. */
    private final String source;

    /** The offset of the malformed data in the source, in bytes. */
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
