package io.bpf4j.loader.internal.load;

import io.bpf4j.sys.internal.call.BtfInfo;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;

/** A kernel with a BTF of its own and one for each of some modules, and nothing else that has an id. */
final class ModulesOfKernel {
    private final Map<Fd, String> names = new HashMap<>();
    private final Map<String, Fd> last = new HashMap<>();
    private final Map<String, Integer> numbers = new HashMap<>();

    ModulesOfKernel(ScriptedKernel kernel, String... modules) {
        List<String> loaded = new ArrayList<>(List.of("vmlinux"));
        loaded.addAll(List.of(modules));
        kernel.answer(
                ObjectCommand.NextId.class,
                next -> next.after() < loaded.size() ? OptionalInt.of(next.after() + 1) : OptionalInt.empty());
        kernel.answer(ObjectCommand.FdById.class, byId -> {
            String name = loaded.get(byId.id() - 1);
            Fd fd = kernel.newFd("BTF of " + name);
            names.put(fd, name);
            last.put(name, fd);
            numbers.put(name, fd.number());
            return fd;
        });
        kernel.answer(
                ObjectCommand.InfoOfBtf.class,
                of -> new BtfInfo(1, Objects.requireNonNull(names.get(of.object())), true, new byte[0]));
    }

    /** The descriptor that was given last for a module. */
    Fd fd(String module) {
        return Objects.requireNonNull(last.get(module));
    }

    /** Its number. */
    int number(String module) {
        return Objects.requireNonNull(numbers.get(module));
    }
}
