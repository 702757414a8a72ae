package io.bpf4j.cli.output;

import java.text.MessageFormat;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/**
 * Writes the warnings of the libraries to standard error, one line each, like this command's own messages. Without this
 * class the JDK would print them with the date and the name of a class. The JDK finds this class as a service.
 * <i>Thread-safe.</i>
 */
public final class Warnings extends System.LoggerFinder {
    private final Console console;

    /** Called by the JDK. */
    public Warnings() {
        this(Console.standard());
    }

    Warnings(Console console) {
        this.console = console;
    }

    @Override
    public System.Logger getLogger(String name, Module module) {
        return new Line(name, console);
    }

    private record Line(String name, Console console) implements System.Logger {
        @Override
        public String getName() {
            return name;
        }

        @Override
        public boolean isLoggable(Level level) {
            return level.getSeverity() >= Level.WARNING.getSeverity() && level != Level.OFF;
        }

        @Override
        public void log(
                Level level, @Nullable ResourceBundle bundle, @Nullable String message, @Nullable Throwable cause) {
            if (isLoggable(level)) {
                console.error("bpf4j: " + message + (cause == null ? "" : ": " + cause.getMessage()));
            }
        }

        @Override
        public void log(
                Level level, @Nullable ResourceBundle bundle, @Nullable String format, @Nullable Object... parameters) {
            if (isLoggable(level)) {
                boolean plain = format == null || parameters == null || parameters.length == 0;
                console.error("bpf4j: " + (plain ? format : MessageFormat.format(format, parameters)));
            }
        }
    }
}
