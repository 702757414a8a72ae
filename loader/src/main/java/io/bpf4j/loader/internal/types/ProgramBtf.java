package io.bpf4j.loader.internal.types;

import io.bpf4j.btf.Btf;
import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ObjectCommand;
import java.nio.ByteOrder;
import java.util.Optional;

/** The BTF that a program was loaded with; programs that replace or trace its functions find them by name. */
public final class ProgramBtf {
    private ProgramBtf() {}

    /** Reads it from the kernel; empty if the program was loaded without BTF. */
    public static Optional<Btf> of(Kernel kernel, Fd program) {
        int id = kernel.execute(new ObjectCommand.InfoOfProgram(program)).btfId();
        if (id == 0) {
            return Optional.empty();
        }
        try (Fd btf = kernel.execute(new ObjectCommand.FdById(ObjectCommand.Kind.BTF, id))) {
            byte[] types = kernel.execute(new ObjectCommand.InfoOfBtf(btf)).data();
            return Optional.of(
                    Btf.parse(ByteView.of("BTF of " + program.description(), types, ByteOrder.nativeOrder())));
        } catch (MalformedDataException e) {
            throw new IllegalStateException("the kernel returned malformed BTF of " + program.description(), e);
        }
    }
}
