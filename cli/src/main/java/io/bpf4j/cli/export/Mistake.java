package io.bpf4j.cli.export;

/**
 * An error in a line of the agent's file, or the reason why its question can't be started. <i>Immutable.</i>
 *
 * @param line from 1
 * @param text the message, without the file and the line
 */
public record Mistake(int line, String text) {}
