package io.bpf4j.test.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.bpf4j.test.support.TargetProgram;
import io.kubernetes.client.openapi.JSON;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1DaemonSet;
import io.kubernetes.client.openapi.models.V1Namespace;
import io.kubernetes.client.openapi.models.V1NetworkPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * The manifest of docs/fleet has the fields and types of Kubernetes' schema, as the models of its own client have them.
 * They refuse a field that an object does not have, as {@code kubectl apply --validate=strict} does.
 */
class FleetManifestTest {
    private static final Path MANIFEST =
            TargetProgram.testModule().resolve("../docs/fleet/daemonset.yaml").normalize();

    /** The kinds of objects in the manifest. */
    private static final Map<String, Class<?>> KINDS = Map.of(
            "v1 Namespace", V1Namespace.class,
            "v1 ConfigMap", V1ConfigMap.class,
            "apps/v1 DaemonSet", V1DaemonSet.class,
            "networking.k8s.io/v1 NetworkPolicy", V1NetworkPolicy.class);

    /** Fields whose values have keys of the author's own. */
    private static final Set<String> MAPS = Set.of("labels", "matchLabels", "data", "limits", "requests");

    private static final Gson GSON = JSON.getGson();

    private static List<JsonObject> documents() throws IOException {
        List<JsonObject> documents = new ArrayList<>();
        Yaml yaml = new Yaml(new SafeConstructor(new LoaderOptions()));
        for (Object document : yaml.loadAll(Files.readString(MANIFEST))) {
            documents.add(GSON.toJsonTree(document).getAsJsonObject());
        }
        return documents;
    }

    /** Reads an object as its kind, and writes it again, without the empty lists and maps of the models. */
    private static JsonElement read(JsonObject document, Class<?> kind) {
        return withoutEmpty(GSON.toJsonTree(GSON.fromJson(document, kind)));
    }

    private static JsonElement withoutEmpty(JsonElement element) {
        if (element.isJsonArray()) {
            for (JsonElement each : element.getAsJsonArray()) {
                JsonElement _ = withoutEmpty(each);
            }
        } else if (element.isJsonObject()) {
            JsonObject object = element.getAsJsonObject();
            object.asMap().values().removeIf(value -> isEmpty(withoutEmpty(value)));
        }
        return element;
    }

    private static boolean isEmpty(JsonElement element) {
        return (element.isJsonArray() && element.getAsJsonArray().isEmpty())
                || (element.isJsonObject() && element.getAsJsonObject().isEmpty());
    }

    private static Class<?> kind(JsonObject document) {
        String name = document.get("apiVersion").getAsString() + " "
                + document.get("kind").getAsString();
        assertThat(KINDS).containsKey(name);
        return KINDS.getOrDefault(name, Object.class);
    }

    /** A value of another type, such as text in the place of a number, would be read, but written otherwise. */
    @Test
    void eachFieldIsOneOfKubernetesAndHasItsType() throws IOException {
        List<JsonObject> documents = documents();
        assertThat(documents).hasSameSizeAs(KINDS.keySet());
        for (JsonObject document : documents) {
            assertThat(read(document, kind(document))).isEqualTo(document);
        }
    }

    /** Wherever one letter is too much, the manifest is refused: the test above looks at all of it. */
    @Test
    void eachMisspeltFieldIsRefused() throws IOException {
        int misspelt = 0;
        for (int i = 0; i < documents().size(); i++) {
            int fields = fields(documents().get(i), -1);
            for (int field = 0; field < fields; field++) {
                JsonObject document = documents().get(i);
                Class<?> kind = kind(document);
                assertThat(fields(document, field)).isLessThan(0);
                assertThatThrownBy(() -> read(document, kind))
                        .as(document.toString())
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("Misspelt");
                misspelt++;
            }
        }
        assertThat(misspelt).isGreaterThan(80);
    }

    /**
     * Counts the fields of an element and of those in it, and misspells the one with the number {@code misspelt}, counted
     * from 0.
     *
     * @return how many there are, or less than 0 if one is misspelt
     */
    private static int fields(JsonElement element, int misspelt) {
        int count = 0;
        if (element.isJsonArray()) {
            for (JsonElement each : element.getAsJsonArray()) {
                int below = fields(each, misspelt - count);
                if (below < 0) {
                    return below;
                }
                count += below;
            }
        } else if (element.isJsonObject()) {
            JsonObject object = element.getAsJsonObject();
            for (String name : List.copyOf(object.keySet())) {
                if (count++ == misspelt) {
                    object.add(name + "Misspelt", object.remove(name));
                    return -1;
                }
                int below = MAPS.contains(name) ? 0 : fields(object.get(name), misspelt - count);
                if (below < 0) {
                    return below;
                }
                count += below;
            }
        }
        return count;
    }
}
