package io.bpf4j.process;

/**
 * A file that a process has mapped executable, not yet opened. <i>Immutable.</i>
 *
 * @param pid the process
 * @param mapping one of the mappings of the file
 */
public record MappedFile(int pid, MappedRange mapping) {

    /** The name that the process uses, for display. */
    public String name() {
        return mapping.name().toString();
    }

    /** Identifies the file among files that are mapped at the same time: device and inode. */
    public Key key() {
        return new Key(mapping.device(), mapping.inode());
    }

    /** Device and inode as maps show them. */
    public record Key(long device, long inode) {}
}
