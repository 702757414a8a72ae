package io.bpf4j.sys.internal.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** A native image can make those native calls only that the jar names. */
class NativeImageMetadataTest {
    private static final String FILE = "/META-INF/native-image/io.bpf4j/bpf4j-sys/reachability-metadata.json";

    @Test
    void eachTypeOfNativeCallIsNamed() throws IOException, IllegalAccessException {
        String metadata;
        try (InputStream in = Libc.class.getResourceAsStream(FILE)) {
            assertThat(in).isNotNull();
            metadata = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        List<String> calls = new ArrayList<>();
        for (Field field : Libc.class.getDeclaredFields()) {
            if (field.getType() == FunctionDescriptor.class) {
                field.setAccessible(true);
                calls.add(downcall((FunctionDescriptor) field.get(null)));
            }
        }
        assertThat(calls).hasSize(2);
        String compact = metadata.replaceAll("\\s", "");
        assertThat(compact.substring(compact.indexOf("\"foreign\"")))
                .isEqualTo("\"foreign\":{\"downcalls\":[" + String.join(",", calls) + "]}}");
    }

    private static String downcall(FunctionDescriptor type) {
        return "{\"returnType\":\"%s\",\"parameterTypes\":[%s],\"options\":{\"captureCallState\":true,\"firstVariadicArg\":1}}"
                .formatted(
                        name(type.returnLayout().orElseThrow()),
                        type.argumentLayouts().stream()
                                .map(layout -> '"' + name(layout) + '"')
                                .collect(Collectors.joining(",")));
    }

    private static String name(MemoryLayout layout) {
        return switch (layout) {
            case ValueLayout.OfLong _ -> "jlong";
            case AddressLayout _ -> "void*";
            default -> throw new AssertionError("no name is known of " + layout);
        };
    }
}
