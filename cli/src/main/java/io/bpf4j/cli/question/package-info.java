/** Questions at the terminal: what runs while a command runs, and how its answer is printed. */
package io.bpf4j.cli.question;
