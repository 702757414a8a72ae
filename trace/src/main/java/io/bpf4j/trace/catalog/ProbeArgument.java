package io.bpf4j.trace.catalog;

/**
 * An argument of a probe. <i>Immutable.</i>
 *
 * <p>Tested by {@code CatalogParserTest}.
 *
 * @param index its number, from 0
 * @param name its name: a letter, then letters, digits and underscores
 */
public record ProbeArgument(int index, String name, ArgumentType type) {}
