package io.bpf4j.loader.spec;

/** The one implementation of {@link ExternSpec}. */
record ExternSpecData(ExternSpec.Kind kind, String name, boolean weak, int typeId, int offset, int size)
        implements ExternSpec {}
