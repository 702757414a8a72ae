package io.bpf4j.elf;

import java.util.Optional;

/**
 * A note: a small tagged record, such as a build ID or a USDT probe.
 *
 * <p><i>Immutable</i>; the description is a view of the file, valid until the file is closed.
 *
 * @param section name of the section that holds it; empty if the note was found through a segment
 * @param owner the owner that defines the type, such as {@code GNU} or {@code stapsdt}
 * @param type number given by the owner, such as {@link #NT_GNU_BUILD_ID}
 * @param description its contents, of any size
 */
record Note(Optional<String> section, String owner, int type, ByteView description) {
    /** Of owner {@code GNU}: the build ID, normally 20 bytes. */
    public static final int NT_GNU_BUILD_ID = 3;
}
