package io.bpf4j.cli.export;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.cli.export.ContainerNames.Named;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ContainerNamesTest {
    private static final String ID = "3f2a9c0d1e4b" + "5".repeat(52);
    private static final String OTHER = ID.replace('5', '6');

    private final AtomicLong now = new AtomicLong();

    @TempDir
    private Path root;

    private ContainerNames names;

    @BeforeEach
    void machine() {
        names = new ContainerNames(root, now::get);
    }

    private Path write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        return Files.writeString(path, text);
    }

    private static String docker(String id) {
        return "var/lib/docker/containers/" + id + "/config.v2.json";
    }

    private static Named plain(String id, String name) {
        return new Named(id, name, "", "", "");
    }

    @Test
    void aMachineWithoutRuntimesHasNoContainer() {
        assertThat(names.read()).isEmpty();
        assertThat(names.collect()).isEmpty();
        assertThat(names.problems()).isEmpty();
    }

    @Test
    void eachRuntimeHasItsFiles() throws IOException {
        write(docker(ID), """
                {"StreamConfig":{},"State":{"Running":true,"Pid":4711},"ID":"x","Name":"/shop","Config":{"Labels":{}}}
                """);
        write("run/containerd/io.containerd.runtime.v2.task/k8s.io/" + OTHER + "/config.json", """
                {"ociVersion":"1.1.0","process":{"args":["sh"]},"annotations":{
                  "io.kubernetes.cri.container-name":"web","io.kubernetes.cri.container-type":"container",
                  "io.kubernetes.cri.sandbox-name":"web-7d9","io.kubernetes.cri.sandbox-namespace":"prod",
                  "io.kubernetes.cri.sandbox-uid":"1a2b3c4d-0001-4aaa-8bbb-0123456789ab"}}
                """);
        String third = ID.replace('5', '7');
        String fourth = ID.replace('5', '8');
        write(
                "var/lib/containers/storage/overlay-containers/containers.json",
                "[{\"id\":\"" + third + "\",\"names\":[\"db\"],\"metadata\":\"{}\",\"flags\":null},{\"id\":\"x\"}]");
        write(
                "var/lib/containers/storage/overlay-containers/volatile-containers.json",
                "[{\"id\":\"" + fourth + "\",\"names\":[\"tmp\"]}]");
        assertThat(names.read())
                .containsExactlyInAnyOrder(
                        plain(ID, "shop"),
                        new Named(OTHER, "web", "prod", "web-7d9", "1a2b3c4d-0001-4aaa-8bbb-0123456789ab"),
                        plain(third, "db"),
                        plain(fourth, "tmp"));
        assertThat(names.problems()).isEmpty();
    }

    @Test
    void theNamesOfCrioHaveThePod() throws IOException {
        String uid = "1a2b3c4d-0001-4aaa-8bbb-0123456789ab";
        String ofStaticPod = "0123456789abcdef0123456789abcdef";
        List<String> parts = List.of(
                "k8s_web_web-7d9_prod_" + uid + "_3",
                "k8s_POD_web-7d9_prod_" + uid + "_0",
                "k8s_etcd_etcd-node1.example_kube-system_" + ofStaticPod + "_0",
                "k8s_web_web_prod_" + uid);
        List<String> ids = List.of("1", "2", "3", "4").stream()
                .map(digit -> ID.replace(ID.charAt(0), digit.charAt(0)))
                .toList();
        StringBuilder list = new StringBuilder("[");
        for (int i = 0; i < parts.size(); i++) {
            list.append(i == 0 ? "" : ",")
                    .append("{\"id\":\"" + ids.get(i) + "\",\"names\":[\"" + parts.get(i) + "\"]}");
        }
        write("var/lib/containers/storage/overlay-containers/containers.json", list + "]");
        assertThat(names.read())
                .containsExactlyInAnyOrder(
                        new Named(ids.get(0), "web", "prod", "web-7d9", uid),
                        new Named(ids.get(1), "POD", "prod", "web-7d9", uid),
                        new Named(ids.get(2), "etcd", "kube-system", "etcd-node1.example", ofStaticPod),
                        plain(ids.get(3), parts.get(3)));
    }

    @Test
    void aContainerThatIsRenamedOrRemovedIsSeen() throws IOException {
        Path file = write(docker(ID), "{\"Name\":\"/a\"}");
        assertThat(names.read()).containsExactly(plain(ID, "a"));
        assertThat(names.read()).containsExactly(plain(ID, "a"));
        Files.writeString(file, "{\"Name\":\"/longer\"}");
        assertThat(names.read()).containsExactly(plain(ID, "longer"));
        Files.delete(file);
        assertThat(names.read()).isEmpty();
    }

    /** A name could be that of another container. */
    @Test
    void whatOthersCanChangeIsRefused() throws IOException {
        Path file = write(docker(ID), "{\"Name\":\"/a\"}");
        write(docker(OTHER), "{\"Name\":\"/b\"}");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
        assertThat(names.read()).containsExactly(plain(OTHER, "b"));
        assertThat(names.problems()).singleElement().asString().contains("another user can change this file");
    }

    @Test
    void whatIsNoSoundFileIsSaid() throws IOException {
        Path link = root.resolve(docker(ID));
        Files.createDirectories(link.getParent());
        Files.createSymbolicLink(link, Files.writeString(root.resolve("elsewhere"), "{\"Name\":\"/a\"}"));
        assertThat(names.read()).isEmpty();
        assertThat(names.problems()).containsExactly(link + ": is not a regular file");
        Files.delete(link);
        for (String text : List.of(
                "",
                "{",
                "[1",
                "{\"Name\":\"/a\"}}",
                "{\"a\":".repeat(40),
                "{\"Name\":1}",
                "{\"Name\":\"\"}",
                "[]",
                "null")) {
            Files.writeString(link, text);
            assertThat(names.read()).as(text).isEmpty();
        }
        Files.write(link, new byte[] {'"', (byte) 0xff, '"'});
        assertThat(names.read()).isEmpty();
        assertThat(names.problems()).containsExactly(link + ": is not text in UTF-8");
        Files.writeString(link, "{\"Name\":\"/" + "x".repeat(ContainerNames.MAX_BYTES) + "\"}");
        assertThat(names.read()).isEmpty();
        assertThat(names.problems()).containsExactly(link + ": larger than " + ContainerNames.MAX_BYTES + " bytes");
        Files.writeString(link, "{\"Name\":\"/" + "x".repeat(301) + "\"}");
        assertThat(names.read()).isEmpty();
    }

    /** Such as a large one, which each scrape would read. */
    @Test
    void whatWasRefusedIsNotReadAtEachScrape() throws IOException {
        Path file = write(docker(ID), "{\"Name\":\"/a\"");
        FileTime modified = Files.getLastModifiedTime(file);
        assertThat(names.read()).isEmpty();
        List<String> problems = names.problems();
        assertThat(problems).singleElement().asString().startsWith(file + ": ");
        // As large and as old, so that only who reads it sees a difference.
        Files.writeString(file, "{\"Name\":\"b\"}");
        Files.setLastModifiedTime(file, modified);
        now.addAndGet(ContainerNames.REFUSED.toNanos() - 1);
        assertThat(names.read()).isEmpty();
        assertThat(names.problems()).as("it is still said").isEqualTo(problems);
        now.addAndGet(1);
        assertThat(names.read()).containsExactly(plain(ID, "b"));
        assertThat(names.problems()).isEmpty();
    }

    @Test
    void whatWasRefusedAndHasChangedIsReadAtOnce() throws IOException {
        Path file = write(docker(ID), "{\"Name\":\"/a");
        assertThat(names.read()).isEmpty();
        Files.writeString(file, "{\"Name\":\"/abc\"}");
        assertThat(names.read()).containsExactly(plain(ID, "abc"));
    }

    @Test
    void thereIsALimit() throws IOException {
        for (int i = 0; i < ContainerNames.MAX_CONTAINERS + 10; i++) {
            write(docker("%064x".formatted(i)), "{\"Name\":\"/c" + i + "\"}");
        }
        assertThat(names.read()).hasSize(ContainerNames.MAX_CONTAINERS);
        assertThat(names.problems()).singleElement().asString().endsWith("there are more than 4096 containers");
    }
}
