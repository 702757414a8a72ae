package io.bpf4j.cli.export;

import io.bpf4j.cli.failure.ErrorText;
import io.bpf4j.cli.failure.OwnFile;
import io.bpf4j.cli.merge.JsonReader;
import io.bpf4j.cli.merge.Refusal;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The names of containers, read from the files of their runtimes: Docker, containerd under Kubernetes, Podman and
 * CRI-O. Series have the ids of containers ({@code --by container}), which stay right when a container is gone; a query
 * joins the names. <i>Thread-safe.</i>
 *
 * <p>The files belong to root. A file that another user can change is refused, because its names could be forged, and
 * so is a file that is not regular or too large. No file is read that a container itself may write.
 *
 * <p>Tested by {@code ContainerNamesTest}.
 */
public final class ContainerNames {
    static final MetricMetadata INFO = new MetricMetadata(
            MetricNames.OWN + "container_info", "1 for each container whose name is known from its runtime.");

    /**
     * The maximum size of a file in bytes, more than these files have with thousands of containers or with large
     * specifications.
     */
    static final int MAX_BYTES = 1 << 22;

    /** The maximum number of containers of all runtimes. */
    static final int MAX_CONTAINERS = 4096;

    /**
     * How long a refused file is not read again, unless it has changed. The reason of the refusal may change without
     * the file, such as who may write to its folder.
     */
    static final Duration REFUSED = Duration.ofMinutes(1);

    /** The maximum length of a name, more than runtimes and Kubernetes allow. */
    private static final int MAX_NAME = 300;

    private static final Pattern ID = Pattern.compile("[0-9a-f]{64}");

    private static final String ANNOTATION = "io.kubernetes.cri.";

    /**
     * How CRI-O names a container of Kubernetes: its own name (POD is the one that only holds the namespaces), those of the pod and the namespace, the pod's uid (that of
     * a static pod has no hyphens), and an attempt. No name of Kubernetes has an underscore. (SetNameAndID in
     * internal/factory/container/container.go of CRI-O.)
     */
    private static final Pattern OF_CRIO =
            Pattern.compile("k8s_(POD|[a-z0-9.-]+)_([a-z0-9.-]+)_([a-z0-9-]+)_([0-9a-f-]{32,36})_[0-9]+");

    private final Path root;
    private final LongSupplier nanoTime;

    /** The files of the last reading, and what was read from each. */
    private Map<Path, Seen> seen = Map.of();

    private List<String> problems = List.of();

    /**
     * A container.
     *
     * @param namespace of Kubernetes, empty for none; likewise the name of the pod and its uid
     */
    record Named(String id, String name, String namespace, String podName, String pod) {}

    /**
     * The state of a file when it was read.
     *
     * @param refusal why it was refused; empty if it was not
     * @param nanos when it was read, by the clock of this object
     */
    private record Seen(
            @Nullable Object key, FileTime time, long size, List<Named> names, Optional<String> refusal, long nanos) {
        boolean isStill(BasicFileAttributes now) {
            return Objects.equals(key, now.fileKey()) && time.equals(now.lastModifiedTime()) && size == now.size();
        }
    }

    /** Finds the names of containers in the content of a file. */
    private interface Form {
        List<Named> names(Map<String, @Nullable Object> content, String folder);
    }

    /** @param root the root directory of the machine whose runtimes are read */
    public ContainerNames(Path root) {
        this(root, System::nanoTime);
    }

    ContainerNames(Path root, LongSupplier nanoTime) {
        this.root = root;
        this.nanoTime = nanoTime;
    }

    /** Why names may be missing, as the last {@link #read} has found it. */
    synchronized List<String> problems() {
        return problems;
    }

    /**
     * The current containers. A file that has not changed is not read again, or, if it was refused, not for a while.
     */
    synchronized List<Named> read() {
        Reading reading = new Reading();
        reading.folders("var/lib/docker/containers", "config.v2.json", ContainerNames::ofDocker);
        reading.folders(
                "run/containerd/io.containerd.runtime.v2.task/k8s.io", "config.json", ContainerNames::ofContainerd);
        for (String list : List.of("containers.json", "volatile-containers.json")) {
            reading.file(
                    root.resolve("var/lib/containers/storage/overlay-containers")
                            .resolve(list),
                    "",
                    ContainerNames::ofStorage);
        }
        seen = reading.files;
        problems = List.copyOf(reading.found);
        return List.copyOf(reading.byId.values());
    }

    /** The names as a metric; none if there is no container. */
    Optional<MetricSnapshot> collect() {
        List<GaugeDataPointSnapshot> points = read().stream()
                .map(named -> new GaugeDataPointSnapshot(
                        1,
                        Labels.of(
                                "container", named.id,
                                "name", named.name,
                                "namespace", named.namespace,
                                "pod_name", named.podName,
                                "pod", named.pod),
                        null))
                .toList();
        return points.isEmpty() ? Optional.empty() : Optional.of(new GaugeSnapshot(INFO, points));
    }

    /** One reading of all files. */
    private final class Reading {
        private final Map<Path, Seen> files = new HashMap<>();
        private final Map<String, Named> byId = new LinkedHashMap<>();

        /** Sorted, so that two readings can be compared. */
        private final TreeSet<String> found = new TreeSet<>();

        /** A folder for each container, whose name is the container's id. */
        void folders(String place, String file, Form form) {
            Path folder = root.resolve(place);
            List<Path> containers = new ArrayList<>();
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(
                    folder,
                    entry -> ID.matcher(String.valueOf(entry.getFileName())).matches())) {
                for (Path entry : entries) {
                    if (containers.size() + byId.size() >= MAX_CONTAINERS) {
                        found.add(folder + ": there are more than " + MAX_CONTAINERS + " containers");
                        break;
                    }
                    containers.add(entry);
                }
            } catch (NoSuchFileException | NotDirectoryException e) {
                return; // there is no such runtime
            } catch (IOException e) {
                found.add(ErrorText.of(e));
                return;
            }
            containers.forEach(
                    container -> file(container.resolve(file), String.valueOf(container.getFileName()), form));
        }

        void file(Path file, String folder, Form form) {
            try {
                for (Named named : names(file, folder, form)) {
                    if (byId.size() >= MAX_CONTAINERS) {
                        found.add(file + ": there are more than " + MAX_CONTAINERS + " containers");
                        return;
                    }
                    byId.put(named.id, named);
                }
            } catch (NoSuchFileException e) {
                // There is no such runtime, or the container is being made or removed.
            } catch (IOException e) {
                found.add(ErrorText.of(e));
            } catch (Refusal e) {
                found.add(file + ": " + e.getMessage());
            }
        }

        private List<Named> names(Path file, String folder, Form form) throws IOException {
            BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            Seen before = seen.get(file);
            long time = nanoTime.getAsLong();
            if (before == null
                    || !before.isStill(now)
                    || (before.refusal.isPresent() && time - before.nanos >= REFUSED.toNanos())) {
                before = look(file, folder, form, now, time);
            }
            files.put(file, before);
            before.refusal.ifPresent(why -> {
                throw new Refusal(why);
            });
            return before.names;
        }

        private Seen look(Path file, String folder, Form form, BasicFileAttributes now, long time) throws IOException {
            List<Named> names = List.of();
            Optional<String> refusal = Optional.empty();
            try {
                names = content(file, folder, form, now);
            } catch (CharacterCodingException e) {
                refusal = Optional.of("is not text in UTF-8");
            } catch (Refusal e) {
                refusal = Optional.of(String.valueOf(e.getMessage()));
            }
            return new Seen(now.fileKey(), now.lastModifiedTime(), now.size(), names, refusal, time);
        }

        private List<Named> content(Path file, String folder, Form form, BasicFileAttributes now) throws IOException {
            if (!now.isRegularFile()) {
                throw new Refusal("is not a regular file");
            }
            Path _ =
                    OwnFile.real(file, OwnFile.user(), why -> new Refusal("another user can change this file: " + why));
            byte[] bytes;
            try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
                bytes = in.readNBytes(MAX_BYTES + 1);
            }
            if (bytes.length > MAX_BYTES) {
                throw new Refusal("larger than " + MAX_BYTES + " bytes");
            }
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            // The reader takes objects; one of these files is an array.
            return form.names(JsonReader.object("{\"content\":" + text + "}"), folder).stream()
                    .filter(ContainerNames::isSound)
                    .toList();
        }
    }

    private static boolean isSound(Named named) {
        return ID.matcher(named.id).matches()
                && !named.name.isEmpty()
                && named.name.length() <= MAX_NAME
                && named.namespace.length() <= MAX_NAME
                && named.podName.length() <= MAX_NAME
                && named.pod.length() <= MAX_NAME;
    }

    /** {@code container.Container} of moby: the name begins with a slash. */
    private static List<Named> ofDocker(Map<String, @Nullable Object> content, String folder) {
        String name = text(content.get("content"), "Name");
        return List.of(new Named(folder, name.startsWith("/") ? name.substring(1) : name, "", "", ""));
    }

    /** The OCI specification with the annotations of containerd ({@code internal/cri/annotations}). */
    private static List<Named> ofContainerd(Map<String, @Nullable Object> content, String folder) {
        Object annotations = content.get("content") instanceof Map<?, ?> spec ? spec.get("annotations") : null;
        return List.of(new Named(
                folder,
                text(annotations, ANNOTATION + "container-name"),
                text(annotations, ANNOTATION + "sandbox-namespace"),
                text(annotations, ANNOTATION + "sandbox-name"),
                text(annotations, ANNOTATION + "sandbox-uid")));
    }

    /** The list of containers of {@code containers/storage}, which Podman and CRI-O use. */
    private static List<Named> ofStorage(Map<String, @Nullable Object> content, String folder) {
        List<Named> all = new ArrayList<>();
        if (content.get("content") instanceof List<?> list) {
            for (Object container : list) {
                if (container instanceof Map<?, ?> map
                        && map.get("names") instanceof List<?> names
                        && !names.isEmpty()
                        && names.getFirst() instanceof String name) {
                    Matcher parts = OF_CRIO.matcher(name);
                    all.add(
                            parts.matches()
                                    ? new Named(
                                            text(map, "id"),
                                            parts.group(1),
                                            parts.group(3),
                                            parts.group(2),
                                            parts.group(4))
                                    : new Named(text(map, "id"), name, "", "", ""));
                }
            }
        }
        return all;
    }

    private static String text(@Nullable Object map, String key) {
        return map instanceof Map<?, ?> members && members.get(key) instanceof String text ? text : "";
    }
}
