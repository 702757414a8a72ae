package io.bpf4j.trace.catalog;

import java.util.List;

/**
 * A question that has a name, such as {@code jvm gc}. <i>Immutable.</i>
 *
 * <p>Tested by {@code CatalogTest}.
 *
 * @param group the program or runtime that the question is about: {@code jvm}
 * @param name the question's name in the group: {@code gc}
 * @param description what the question answers, in one or more sentences; may be empty
 * @param flags what the question needs: options and variables with which the traced program must have been started,
 *     such as {@code -XX:+DTraceAllocProbes} and {@code USE_ZEND_DTRACE=1}; or anything else, in words with blanks
 * @param command the words of the command that the question stands for. The first is the command's name; the target is
 *     missing, and belongs after the name.
 */
public record ReadyQuestion(String group, String name, String description, List<String> flags, List<String> command) {
    public ReadyQuestion {
        flags = List.copyOf(flags);
        command = List.copyOf(command);
    }
}
