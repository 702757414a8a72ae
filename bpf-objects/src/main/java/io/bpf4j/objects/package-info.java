/**
 * Access to the compiled BPF objects.
 *
 * {@snippet lang = "java":
 * ObjectSpec tracer = ObjectSpec.parse("tracer", BpfObjects.tracer()); // for the byte order of this machine
 * for (ProgramSpec program : tracer.programs()) {
 *     System.out.println(program.sectionName() + " " + program.name());
 * }
 * }
 */
package io.bpf4j.objects;
