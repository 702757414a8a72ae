import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * Writes how podman runs the container of a DaemonSet with exactly the rights, mounts and limits that its manifest says:
 *
 * <pre>
 * java Pod.java MANIFEST FOLDER SECCOMP
 * </pre>
 *
 * <p>SECCOMP is the file of the profile that stands for RuntimeDefault. The folder gets {@code options} and {@code
 * arguments} of {@code podman run}, a word on each line, the files of its ConfigMap in {@code volumes}, and {@code
 * liveness} and {@code readiness}, each with the port, the path and the seconds that an answer may take; {@code
 * capabilities}, {@code memory} (bytes) and {@code grace} (seconds) are what a reader compares with.
 *
 * <p>It fails at a field of the manifest that it does not know, because the container would then run without it.
 */
class Pod {
    private final Path folder;
    private final String seccomp;
    private final List<Map<String, Object>> documents = new ArrayList<>();
    private final List<String> options = new ArrayList<>();

    private Pod(Path folder, String seccomp) {
        this.folder = folder;
        this.seccomp = seccomp;
    }

    public static void main(String[] arguments) throws IOException {
        Pod pod = new Pod(Path.of(arguments[1]), arguments[2]);
        Yaml yaml = new Yaml(new SafeConstructor(new LoaderOptions()));
        for (Object document : yaml.loadAll(Files.readString(Path.of(arguments[0])))) {
            pod.documents.add(map(document));
        }
        pod.write();
    }

    /** A copy, from which parts are taken. */
    private static Map<String, Object> map(Object part) {
        Map<String, Object> copy = new LinkedHashMap<>();
        ((Map<?, ?>) part).forEach((key, value) -> copy.put((String) key, value));
        return copy;
    }

    private static List<Object> list(Object part) {
        return new ArrayList<>((List<?>) part);
    }

    private static Object take(Map<String, Object> part, String key) {
        Object value = part.remove(key);
        if (value == null) {
            throw new IllegalStateException("the manifest has no " + key + " beside " + part.keySet());
        }
        return value;
    }

    private static void must(Map<String, Object> part, String key, Object value) {
        Object found = take(part, key);
        if (!found.equals(value)) {
            throw new IllegalStateException(key + " is " + found + ", and only " + value + " is known here");
        }
    }

    private static void end(Map<String, Object> part, String what) {
        if (!part.isEmpty()) {
            throw new IllegalStateException(what + " has what is not known here: " + part);
        }
    }

    private static Object only(Object list) {
        List<Object> all = list(list);
        if (all.size() != 1) {
            throw new IllegalStateException("more than one: " + all);
        }
        return all.getFirst();
    }

    private Map<String, Object> document(String kind) {
        return documents.stream()
                .filter(document -> kind.equals(document.get("kind")))
                .findFirst()
                .map(Pod::map)
                .orElseThrow();
    }

    private void option(String... words) {
        options.addAll(List.of(words));
    }

    private void lines(String file, List<String> lines) throws IOException {
        Files.write(folder.resolve(file), lines);
    }

    private void write() throws IOException {
        Map<String, Object> template = map(map(document("DaemonSet").get("spec")).get("template"));
        Map<String, Object> pod = map(take(template, "spec"));
        if ((Boolean) take(pod, "hostPID")) {
            option("--pid", "host");
        }
        must(pod, "automountServiceAccountToken", false);
        take(pod, "tolerations"); // on which nodes
        Map<String, Map<String, Object>> volumes = new HashMap<>();
        for (Object each : list(take(pod, "volumes"))) {
            Map<String, Object> volume = map(each);
            volumes.put((String) take(volume, "name"), volume);
        }
        Map<String, Object> container = map(only(take(pod, "containers")));
        Object grace = pod.remove("terminationGracePeriodSeconds");
        lines("grace", List.of(grace == null ? "30" : grace.toString())); // that of Kubernetes
        end(pod, "the pod");

        take(container, "name");
        take(container, "image");
        lines("arguments", list(take(container, "args")).stream().map(String::valueOf).toList());
        for (Object each : list(take(container, "env"))) {
            Map<String, Object> variable = map(each);
            option("--env", take(variable, "name") + "=" + take(variable, "value"));
            end(variable, "a variable");
        }
        rights(map(take(container, "securityContext")));
        limits(map(take(container, "resources")));
        Map<String, Object> port = map(only(take(container, "ports")));
        String portName = (String) take(port, "name");
        int number = (Integer) take(port, "containerPort");
        end(port, "the port");
        for (String probe : List.of("liveness", "readiness")) {
            probe(probe, map(take(container, probe + "Probe")), portName, number);
        }
        for (Object each : list(take(container, "volumeMounts"))) {
            mount(map(each), volumes);
        }
        end(container, "the container");
        lines("options", options);
    }

    private void rights(Map<String, Object> context) throws IOException {
        option("--user", take(context, "runAsUser").toString());
        must(context, "privileged", false);
        must(context, "allowPrivilegeEscalation", false);
        option("--security-opt", "no-new-privileges");
        must(context, "readOnlyRootFilesystem", true);
        // Podman would mount places to write to that Kubernetes has not.
        option("--read-only", "--read-only-tmpfs=false");
        Map<String, Object> capabilities = map(take(context, "capabilities"));
        must(capabilities, "drop", List.of("ALL"));
        option("--cap-drop", "ALL");
        List<String> added =
                list(take(capabilities, "add")).stream().map(String::valueOf).toList();
        added.forEach(capability -> option("--cap-add", capability));
        lines("capabilities", added);
        end(capabilities, "capabilities");
        must(context, "seccompProfile", Map.of("type", "RuntimeDefault"));
        option("--security-opt", "seccomp=" + seccomp);
        must(context, "appArmorProfile", Map.of("type", "Unconfined"));
        option("--security-opt", "apparmor=unconfined");
        end(context, "the security context");
    }

    private void limits(Map<String, Object> resources) throws IOException {
        take(resources, "requests"); // what the scheduler sets aside
        Map<String, Object> limits = map(take(resources, "limits"));
        String cpu = (String) take(limits, "cpu");
        if (!cpu.endsWith("m")) {
            throw new IllegalStateException("not in thousandths of a processor: " + cpu);
        }
        option("--cpus", String.valueOf(Integer.parseInt(cpu.substring(0, cpu.length() - 1)) / 1e3));
        String memory = (String) take(limits, "memory");
        if (!memory.endsWith("Mi")) {
            throw new IllegalStateException("not in Mi: " + memory);
        }
        long bytes = Long.parseLong(memory.substring(0, memory.length() - 2)) << 20;
        option("--memory", String.valueOf(bytes));
        lines("memory", List.of(String.valueOf(bytes)));
        end(limits, "the limits");
        end(resources, "the resources");
    }

    private void probe(String name, Map<String, Object> probe, String portName, int port) throws IOException {
        Map<String, Object> get = map(take(probe, "httpGet"));
        must(get, "port", portName);
        String path = (String) take(get, "path");
        end(get, "httpGet");
        take(probe, "periodSeconds");
        lines(name, List.of(port + " " + path + " " + take(probe, "timeoutSeconds")));
        end(probe, name);
    }

    private void mount(Map<String, Object> mount, Map<String, Map<String, Object>> volumes) throws IOException {
        String name = (String) take(mount, "name");
        Map<String, Object> volume = new TreeMap<>(volumes.get(name));
        String source;
        if (volume.containsKey("hostPath")) {
            Map<String, Object> path = map(take(volume, "hostPath"));
            must(path, "type", "Directory");
            source = (String) take(path, "path");
            end(path, "hostPath");
        } else {
            source = configMap(map(take(volume, "configMap")))
                    .resolve((String) take(mount, "subPath"))
                    .toRealPath()
                    .toString();
        }
        end(volume, "the volume " + name);
        must(mount, "readOnly", true);
        option("--volume", source + ":" + take(mount, "mountPath") + ":ro");
        end(mount, "the mount " + name);
    }

    /** As the kubelet lays it out: links in a folder that all may write to, and the files in a folder with the date. */
    private Path configMap(Map<String, Object> source) throws IOException {
        must(source, "name", map(document("ConfigMap").get("metadata")).get("name"));
        int mode = (Integer) take(source, "defaultMode");
        end(source, "configMap");
        Path volume = Files.createDirectories(folder.resolve("volumes/config"));
        Path data = Files.createDirectory(volume.resolve("..data-1"));
        Files.createSymbolicLink(volume.resolve("..data"), data.getFileName());
        for (Map.Entry<String, Object> entry : map(document("ConfigMap").get("data")).entrySet()) {
            Path file = Files.writeString(data.resolve(entry.getKey()), (String) entry.getValue());
            Files.setAttribute(file, "unix:mode", mode);
            Files.createSymbolicLink(volume.resolve(entry.getKey()), Path.of("..data").resolve(entry.getKey()));
        }
        Files.setPosixFilePermissions(volume, PosixFilePermissions.fromString("rwxrwxrwx"));
        return volume;
    }
}
