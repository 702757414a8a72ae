package io.bpf4j.trace.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;

class FlameGraphTest {
    private final StackCounts stacks = StackCounts.create();

    @Test
    void aFunctionIsAsWideAsItsShareAndAboveItsCaller() throws Exception {
        stacks.add("", List.of(user("foo"), user("main")), List.of(), 30);
        stacks.add("", List.of(user("bar"), user("main")), List.of(), 10);
        List<Element> frames = frames(parse(svg("title")));
        assertThat(frames).extracting(f -> f.getAttribute("data-name")).containsExactly("all", "main", "bar", "foo");
        assertThat(frames).extracting(f -> width(f)).containsExactly(1200.0, 1200.0, 300.0, 900.0);
        assertThat(frames).extracting(f -> y(f)).isSortedAccordingTo((a, b) -> Double.compare(b, a));
        assertThat(frames.get(3).getElementsByTagName("title").item(0).getTextContent())
                .isEqualTo("foo: 30 of 40 (75.00%)");
        assertThat(frames.get(3).getElementsByTagName("rect").item(0))
                .satisfies(r -> assertThat(((Element) r).getAttribute("x")).isEqualTo("300"));
    }

    @Test
    void linesAreBelowTheGraphAndEscaped() throws Exception {
        stacks.add("", List.of(user("main")), List.of(), 30);
        StringBuilder out = new StringBuilder();
        stacks.svg(out, "title", List.of("first", "</text><script>"));
        Document document = parse(out.toString());
        assertThat(out).contains(">first</text>");
        assertThat(document.getElementsByTagName("script").getLength()).isEqualTo(1);
        int taller = height(document) - height(parse(svg("title")));
        assertThat(taller).isEqualTo(36);
    }

    private static int height(Document document) {
        return Integer.parseInt(document.getDocumentElement().getAttribute("height"));
    }

    /** Names come from others' files: nothing of them becomes an element, an attribute or a script. */
    @Test
    void allNamesAreEscaped() throws Exception {
        String evil =
                "</title></text><script>alert(1)</script>\"' onclick=\"alert(2) ]]> & &amp; \u0000\u0008\ud800\ufffe";
        stacks.add(evil, List.of(user(evil), user("x".repeat(10) + evil)), List.of(), 1);
        String text = svg(evil);
        Document document = parse(text);
        assertThat(document.getElementsByTagName("script").getLength()).isEqualTo(1);
        assertThat(frames(document))
                .hasSize(4)
                .allSatisfy(f -> assertThat(f.getAttribute("onclick")).isEmpty());
        assertThat(frames(document).get(1).getAttribute("data-name"))
                .isEqualTo(evil.replace("\u0000", "\\x00")
                        .replace("\u0008", "\\x08")
                        .replace("\ud800", "\\u{d800}")
                        .replace("\ufffe", "\\u{fffe}"));
        StringBuilder html = new StringBuilder();
        stacks.html(html, evil);
        assertThat(html.toString().split("<script", -1)).hasSize(2);
        assertThat(html).doesNotContain("<script>alert").startsWith("<!DOCTYPE html>");
    }

    @Test
    void theSameStacksGiveTheSameBytes() throws IOException {
        StackCounts others = StackCounts.create();
        for (int i = 0; i < 50; i++) {
            stacks.add("app", List.of(user("f" + i)), List.of(), i);
            others.add("app", List.of(user("f" + (49 - i))), List.of(), 49 - i);
        }
        StringBuilder other = new StringBuilder();
        others.svg(other, "t");
        assertThat(svg("t")).isEqualTo(other.toString());
    }

    @Test
    void whatIsTooNarrowToSeeIsLeftOut() throws Exception {
        for (int i = 0; i < 50_000; i++) {
            stacks.add("", List.of(user("f" + i)), List.of(), 1);
        }
        stacks.add("", List.of(user("wide")), List.of(), 50_000);
        List<Element> frames = frames(parse(svg("t")));
        assertThat(frames).extracting(f -> f.getAttribute("data-name")).containsExactly("all", "wide");
        assertThat(width(frames.get(1))).isEqualTo(600);
    }

    @Test
    void noStacksAreAPictureToo() throws Exception {
        assertThat(frames(parse(svg("nothing")))).hasSize(1);
        stacks.add("", List.of(user("never")), List.of(), 0);
        assertThat(frames(parse(svg("nothing")))).hasSize(1);
    }

    @Test
    void itCanBeUsedWithoutSeeingIt() throws Exception {
        stacks.add("", List.of(user("main")), List.of(), 1);
        Document document = parse(svg("Where queries wait"));
        Element root = document.getDocumentElement();
        assertThat(root.getAttribute("aria-labelledby")).isEqualTo("title");
        assertThat(root.getElementsByTagName("title").item(0).getTextContent()).isEqualTo("Where queries wait");
        assertThat(frames(document)).allSatisfy(f -> {
            assertThat(f.getAttribute("tabindex")).isEqualTo("0");
            assertThat(f.getElementsByTagName("title").getLength()).isEqualTo(1);
        });
    }

    private String svg(String title) throws IOException {
        StringBuilder out = new StringBuilder();
        stacks.svg(out, title);
        return out.toString();
    }

    private static Document parse(String svg) throws ParserConfigurationException, SAXException, IOException {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
        return factory.newDocumentBuilder().parse(new InputSource(new StringReader(svg)));
    }

    private static List<Element> frames(Document document) {
        List<Element> frames = new ArrayList<>();
        NodeList groups = document.getElementsByTagName("g");
        for (int i = 0; i < groups.getLength(); i++) {
            if (groups.item(i) instanceof Element group
                    && group.getAttribute("class").equals("frame")) {
                frames.add(group);
            }
        }
        return frames;
    }

    private static double width(Element frame) {
        return Double.parseDouble(frame.getAttribute("data-w"));
    }

    private static double y(Element frame) {
        return frame.getElementsByTagName("rect").item(0) instanceof Element rect
                ? Double.parseDouble(rect.getAttribute("y"))
                : -1;
    }

    private static Frame user(String name) {
        return new Frame(0x1000, name, name, 0, "/bin/app", Frame.Source.SYMBOLS);
    }
}
