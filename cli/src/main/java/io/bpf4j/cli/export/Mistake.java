package io.bpf4j.cli.export;

/**
 * What is wrong with a line of the agent's file, or why its question can't be asked. <i>Immutable.</i>
 *
 * @param line from 1
 * @param text without the file and the line
 */
public record Mistake(int line, String text) {}
