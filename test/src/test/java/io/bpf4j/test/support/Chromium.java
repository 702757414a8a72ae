package io.bpf4j.test.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.imageio.ImageIO;

/** A browser without a window. What a page says on its console, such as an error, fails the test. <em>Confined.</em> */
public final class Chromium {
    private final Path folder;

    /** @param folder of its own, for its profile and what it writes */
    public Chromium(Path folder) {
        this.folder = folder;
    }

    /** The elements of a page, as they are after its scripts have run. */
    public String dom(Path page) throws IOException, InterruptedException {
        return run(page, "--dump-dom");
    }

    /** How a page looks, to a reader who prefers dark colours or not. */
    public BufferedImage look(Path page, boolean dark) throws IOException, InterruptedException {
        Path picture = folder.resolve("screenshot.png");
        run(
                page,
                "--screenshot=" + picture,
                "--hide-scrollbars",
                "--window-size=1200,900",
                "--blink-settings=preferredColorScheme=" + (dark ? 0 : 1));
        return ImageIO.read(picture.toFile());
    }

    /** A page as it is printed. */
    public byte[] pdf(Path page) throws IOException, InterruptedException {
        Path printed = folder.resolve("printed.pdf");
        run(page, "--print-to-pdf=" + printed);
        return Files.readAllBytes(printed);
    }

    private String run(Path page, String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                "chromium-headless-shell",
                "--headless",
                "--no-sandbox", // it runs as root
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--enable-logging=stderr",
                "--user-data-dir=" + folder.resolve("profile")));
        command.addAll(List.of(options));
        command.add(page.toUri().toString());
        ProcessBuilder builder = new ProcessBuilder(command);
        // It keeps files in these folders, too.
        builder.environment().put("HOME", folder.toString());
        builder.environment().remove("DBUS_SESSION_BUS_ADDRESS");
        Commands.Result result = Commands.run(builder);
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.err().lines()).as("the page's console").noneMatch(line -> line.contains("CONSOLE"));
        return result.out();
    }
}
