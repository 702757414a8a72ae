package io.bpf4j.test.project;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/** What a user gets holds nothing that is only there to test with. */
class ShippedModulesTest {
    private static final Path CHECKOUT =
            TargetProgram.testModule().resolve("..").normalize();
    /** The modules of the root pom that stay in the repository; all others are shipped. */
    private static final List<String> NOT_SHIPPED = List.of("test/fuzz", "test/objects", "benchmarks", "test");

    @Test
    void theOnlyBpfObjectsAreThoseOfTheCommands() throws IOException, ParserConfigurationException, SAXException {
        List<String> objects = new ArrayList<>();
        List<String> sources = new ArrayList<>();
        for (String module : shipped()) {
            objects.addAll(files(module, "src/main/resources", ".bpf.o"));
            sources.addAll(files(module, "src/main", ".bpf.c"));
        }
        String folder = "bpf-objects/src/main/resources/io/bpf4j/objects";
        assertThat(objects)
                .containsExactlyInAnyOrder(
                        folder + "/trace.bpf.o",
                        folder + "/big/trace.bpf.o",
                        folder + "/question.bpf.o",
                        folder + "/big/question.bpf.o");
        assertThat(sources)
                .containsExactlyInAnyOrder(
                        "bpf-objects/src/main/bpf/trace.bpf.c", "bpf-objects/src/main/bpf/question.bpf.c");
    }

    @Test
    void whatIsNotShippedIsUsedByTestsOnly() throws IOException, ParserConfigurationException, SAXException {
        List<String> artifacts = new ArrayList<>();
        for (String module : NOT_SHIPPED) {
            artifacts.addAll(texts(pom(module), "project", "artifactId"));
        }
        assertThat(artifacts).hasSameSizeAs(NOT_SHIPPED).contains("bpf4j-test-fuzz", "bpf4j-test-objects");
        for (String module : shipped()) {
            NodeList dependencies = pom(module).getElementsByTagName("dependency");
            for (int i = 0; i < dependencies.getLength(); i++) {
                Element dependency = (Element) dependencies.item(i);
                if (artifacts.contains(text(dependency, "artifactId"))) {
                    assertThat(text(dependency, "scope"))
                            .as("%s of %s", text(dependency, "artifactId"), module)
                            .isEqualTo("test");
                }
            }
        }
    }

    private static List<String> shipped() throws IOException, ParserConfigurationException, SAXException {
        List<String> modules = new ArrayList<>(texts(pom("."), "modules", "module"));
        assertThat(modules).containsAll(NOT_SHIPPED);
        modules.removeAll(NOT_SHIPPED);
        return modules;
    }

    private static Document pom(String module) throws IOException, ParserConfigurationException, SAXException {
        return DocumentBuilderFactory.newDefaultInstance()
                .newDocumentBuilder()
                .parse(CHECKOUT.resolve(module).resolve("pom.xml").toFile());
    }

    private static List<String> files(String module, String below, String suffix) throws IOException {
        Path folder = CHECKOUT.resolve(module).resolve(below);
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(folder)) {
            return files.map(f -> CHECKOUT.relativize(f).toString())
                    .filter(f -> f.endsWith(suffix))
                    .toList();
        }
    }

    /** The texts of the elements of a name whose parent has another name. */
    private static List<String> texts(Document pom, String parent, String name) {
        List<String> texts = new ArrayList<>();
        NodeList elements = pom.getElementsByTagName(name);
        for (int i = 0; i < elements.getLength(); i++) {
            if (elements.item(i).getParentNode().getNodeName().equals(parent)) {
                texts.add(elements.item(i).getTextContent());
            }
        }
        return texts;
    }

    private static String text(Element element, String name) {
        NodeList children = element.getElementsByTagName(name);
        return children.getLength() == 0 ? "" : children.item(0).getTextContent();
    }
}
