package io.bpf4j.loader.spec;

/** The one implementation of {@link GlobalSpec}. */
record GlobalSpecData(String name, String map, int offset, int size, int typeId, int variableId, boolean exported)
        implements GlobalSpec {}
