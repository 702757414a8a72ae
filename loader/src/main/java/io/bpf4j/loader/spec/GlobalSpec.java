package io.bpf4j.loader.spec;

/** A global variable of an object. <i>Immutable.</i> */
public sealed interface GlobalSpec permits GlobalSpecData {
    /** Its name in the C source. */
    String name();

    /** Name of the map that holds it: its section. */
    String map();

    /** Its offset in the section, in bytes. */
    int offset();

    /** Its size in bytes. */
    int size();

    /** Its type in the object's BTF. */
    int typeId();

    /** The variable itself in the object's BTF: names of static variables may occur twice. */
    int variableId();

    /** Whether it is neither static nor hidden. */
    boolean exported();
}
