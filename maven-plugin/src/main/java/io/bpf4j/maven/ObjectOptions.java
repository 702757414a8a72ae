package io.bpf4j.maven;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.maven.plugins.annotations.Parameter;
import org.jspecify.annotations.Nullable;

/** How the class of one object is generated; an element of {@code <objects>}. Maven sets the fields. */
public final class ObjectOptions {
    /** The name of a compiled object, such as gc.bpf.o, or the path of another one, relative to the project's folder. */
    @Parameter(required = true)
    @Nullable
    String file;

    /** The simple name of the class; by default made of the file's. */
    @Parameter
    @Nullable
    String className;

    /** The types of the records of ring buffers and perf buffers, by the names of the maps. */
    @Parameter
    Map<String, String> events = new LinkedHashMap<>();

    /** Further structs that get a class. */
    @Parameter
    List<String> structs = new ArrayList<>();
}
