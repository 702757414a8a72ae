package io.bpf4j.loader.spec;

/**
 * A global variable of an object. <i>Immutable.</i>
 *
 * @param name its name in the C source
 * @param map name of the map that holds it: its section
 * @param offset its offset in the section, in bytes
 * @param size its size in bytes
 * @param typeId its type in the object's BTF
 * @param variableId the variable itself in the object's BTF: names of static variables may occur twice
 * @param exported whether it is neither static nor hidden
 */
public record GlobalSpec(String name, String map, int offset, int size, int typeId, int variableId, boolean exported) {}
