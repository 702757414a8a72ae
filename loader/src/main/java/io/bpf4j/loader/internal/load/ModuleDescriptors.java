package io.bpf4j.loader.internal.load;

import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.BtfInfo;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.kernel.Errno;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalInt;

/**
 * File descriptors of the BTF of modules. With an id in a module's BTF, the kernel requires a file descriptor of that
 * BTF, which is opened by the BTF's object id. The object id is looked up by the module's name. <i>Confined.</i>
 *
 * <p>Tested by {@code KernelFunctionCallsTest} and {@code StructOpsOfModuleTest}.
 */
final class ModuleDescriptors implements AutoCloseable {
    private final Kernel kernel;
    private final Map<String, Fd> opened = new LinkedHashMap<>();

    ModuleDescriptors(Kernel kernel) {
        this.kernel = kernel;
    }

    /**
     * The file descriptor of a module's BTF, the same each time; this object closes it.
     *
     * @throws RelocationException if the module was unloaded
     */
    Fd of(String module) {
        return opened.computeIfAbsent(module, this::open);
    }

    @Override
    public void close() {
        try (UndoStack all = new UndoStack()) {
            opened.values().forEach(all::own);
            opened.clear();
        }
    }

    private Fd open(String module) {
        for (OptionalInt id = nextId(0); id.isPresent(); id = nextId(id.getAsInt())) {
            Fd fd;
            try {
                fd = kernel.execute(new ObjectCommand.FdById(ObjectCommand.Kind.BTF, id.getAsInt()));
            } catch (SyscallException e) {
                if (e.errno() == Errno.ENOENT) {
                    continue; // unloaded in the meantime
                }
                throw e;
            }
            BtfInfo info = fd.ownedBy(own -> kernel.execute(new ObjectCommand.InfoOfBtf(own, false)));
            if (info.ofKernel() && info.name().equals(module)) {
                return fd;
            }
            fd.close();
        }
        throw new RelocationException("the kernel exported types of module \"" + module
                + "\", but has no BTF of that name loaded: the module was unloaded in the meantime");
    }

    private OptionalInt nextId(int after) {
        return kernel.execute(new ObjectCommand.NextId(ObjectCommand.Kind.BTF, after));
    }
}
