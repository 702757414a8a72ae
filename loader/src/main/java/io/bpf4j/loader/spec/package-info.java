/**
 * The contents of an object file: programs, maps, global variables, externs and relocations. The same bytes give the
 * same {@link io.bpf4j.loader.spec.ObjectSpec} on every machine; this package does not access the running kernel.
 *
 * {@snippet lang = "java":
 * ObjectSpec spec = ObjectSpec.read(Path.of("connects.bpf.o")).withGlobal("target_pid", 42);
 * for (ProgramSpec program : spec.programs()) {
 *     System.out.println(program.sectionName() + " " + program.name() + ": " + program.type());
 * }
 * for (MapSpec map : spec.maps()) {
 *     System.out.println(map.name() + ": " + map.maxEntries() + " entries of " + map.valueSize() + " bytes");
 * }
 * }
 */
package io.bpf4j.loader.spec;
