package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.internal.call.Command;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A load is a transaction: each command of the load of several objects fails in turn, and whatever came before is
 * undone, the last first; the message says what it was about. One object has something of everything that a load makes.
 */
class LoadTransactionTest {
    private static final String WHOLE = "whole.bpf.o";

    private static List<Command<?>> commandsOf(String object) {
        ScriptedKernel kernel = new ScriptedKernel();
        try (BpfObject loaded =
                ScriptedLoads.loader(kernel, ScriptedLoads.spec(object)).load()) {
            assertThat(loaded.programs()).isNotEmpty();
            return kernel.commands();
        }
    }

    @Test
    void somethingOfEverythingIsMade() {
        assertThat(commandsOf(WHOLE).stream().map(c -> c.getClass().getSimpleName()))
                .contains("Create", "LoadBtf", "Load", "Pin", "Get", "Map", "Freeze", "Element", "InfoOfMap");
        ScriptedKernel kernel = new ScriptedKernel();
        try (BpfObject loaded =
                ScriptedLoads.loader(kernel, ScriptedLoads.spec(WHOLE)).load()) {
            assertThat(loaded.programs()).hasSize(6);
            assertThat(loaded.maps()).hasSize(11);
            assertThat(kernel.mappings()).as("of the arena").isEqualTo(1);
            assertThat(kernel.pinned()).containsExactly(kernel.host().sys() + "/fs/bpf/kept");
            assertThat(kernel.open()).hasSize(1 + 11 + 6);
        }
        assertThat(kernel.pinned()).as("pinned means that it stays").hasSize(1);
    }

    @ParameterizedTest
    @EnumSource(
            value = Errno.class,
            names = {"EPERM", "ENOMEM", "EINTR", "EAGAIN", "EINVAL", "EMFILE", "ENOENT", "EEXIST", "ENOSPC"})
    void whicheverCommandFailsOnceNothingStays(Errno errno) {
        int commands = commandsOf(WHOLE).size();
        int failures = 0;
        for (int n = 1; n <= commands; n++) {
            failures += failsAt(WHOLE, n, errno, false) ? 1 : 0;
        }
        assertThat(failures).isGreaterThan(commands / 3);
    }

    /** What is tried again fails again. */
    @ParameterizedTest
    @EnumSource(
            value = Errno.class,
            names = {"EPERM", "ENOMEM", "EINTR", "EAGAIN", "EINVAL"})
    void whicheverCommandGoesOnToFailNothingStays(Errno errno) {
        int commands = commandsOf(WHOLE).size();
        int failures = 0;
        for (int n = 1; n <= commands; n++) {
            failures += failsAt(WHOLE, n, errno, true) ? 1 : 0;
        }
        assertThat(failures).isGreaterThan(commands / 2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "globals.bpf.o",
                "maps.bpf.o",
                "calls.bpf.o",
                "args12.bpf.o",
                "trace.bpf.o",
                "forms.bpf.o",
                "edits.bpf.o",
                "kconfig.bpf.o"
            })
    void soItIsWithOtherObjects(String object) {
        int commands = commandsOf(object).size();
        int failures = 0;
        for (int n = 1; n <= commands; n++) {
            failures += failsAt(object, n, Errno.EIO, true) ? 1 : 0;
        }
        assertThat(failures).isGreaterThan(3);
    }

    /** Whether the load fails with its n-th command. */
    private static boolean failsAt(String object, int n, Errno errno, boolean again) {
        ScriptedKernel kernel = new ScriptedKernel();
        Failing failing = new Failing(kernel, n, again);
        kernel.fail(failing, errno);
        String what = "command " + n + " of " + object + " fails with " + errno;
        boolean failed = false;
        int eventsBefore = 0;
        try (BpfObject loaded =
                ScriptedLoads.loader(kernel, ScriptedLoads.spec(object)).load()) {
            assertThat(loaded.programs()).as(what).isNotEmpty(); // what the loader can do without
        } catch (BpfException e) {
            failed = true;
            eventsBefore = failing.eventsBefore;
            assertThat(e.getMessage())
                    .as(what + ": " + failing.victim)
                    .contains(failing.names())
                    .contains(errno == Errno.ENOSPC ? "" : errno.name());
            assertThat(kernel.pinned()).as(what).isEmpty();
        }
        assertThat(kernel.open()).as(what).isEmpty();
        assertThat(kernel.mappings()).as(what).isZero();
        if (failed) {
            assertUndoneInReverse(kernel.history(), eventsBefore, what);
        }
        return failed;
    }

    /**
     * What was there when the failure came goes in the reverse order; what comes after it is gone before the next of
     * them.
     */
    private static void assertUndoneInReverse(List<ScriptedKernel.Event> history, int eventsBefore, String what) {
        Deque<String> there = new ArrayDeque<>();
        for (ScriptedKernel.Event event : history.subList(0, eventsBefore)) {
            if (event.made()) {
                there.push(event.description());
            } else {
                there.remove(event.description());
            }
        }
        List<String> gone = new ArrayList<>();
        List<String> late = new ArrayList<>();
        for (ScriptedKernel.Event event : history.subList(eventsBefore, history.size())) {
            if (event.made()) {
                late.add(event.description());
            } else if (!late.remove(event.description())) {
                gone.add(event.description());
            }
        }
        assertThat(late).as(what).isEmpty();
        assertThat(gone).as(what).containsExactlyElementsOf(there);
    }

    /** Picks the n-th command that may fail, and what is tried again in its place. */
    private static final class Failing implements Predicate<Command<?>> {
        private static final Pattern QUOTED = Pattern.compile("\"([^\"]+)\"");

        private final ScriptedKernel kernel;
        private final boolean again;
        private int left;
        private Command<?> victim = new FileCommand.RaiseMemlock();
        private int eventsBefore;

        Failing(ScriptedKernel kernel, int n, boolean again) {
            this.kernel = kernel;
            this.left = n;
            this.again = again;
        }

        @Override
        public boolean test(Command<?> command) {
            // A close can't be undone by anything, so that none fails here, and neither does what takes back a pin.
            if (command instanceof FileCommand.Close
                    || command instanceof FileCommand.Unmap
                    || command instanceof FileCommand.Unlink) {
                return false;
            }
            if (--left == 0) {
                victim = command;
                eventsBefore = kernel.history().size();
                return true;
            }
            return left < 0 && again && isTheSame(command);
        }

        private boolean isTheSame(Command<?> command) {
            return command.getClass() == victim.getClass() && command.call().equals(victim.call());
        }

        /** What a message about the command names: the map, the program, the file. */
        private String names() {
            return switch (victim) {
                case ProgCommand.LoadBtf btf -> btf.name();
                case ObjectCommand.Pin pin -> pin.path().toString();
                case ObjectCommand.Get get -> get.path().toString();
                default -> {
                    Matcher quoted = QUOTED.matcher(victim.call());
                    // To a person a map of global data is its section; the kernel's name starts with the object's.
                    String name = quoted.find() ? quoted.group(1) : "";
                    yield name.contains(".") ? name.substring(name.indexOf('.')) : name;
                }
            };
        }
    }
}
