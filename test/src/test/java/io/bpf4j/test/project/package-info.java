/** What holds for the repository as a whole: dependencies between its modules, its documents, its tests. */
@org.jspecify.annotations.NullMarked
package io.bpf4j.test.project;
