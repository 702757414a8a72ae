package io.bpf4j.loader.internal.attach;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Instructions;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.LoadResult;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.ProgramType;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.OptionalInt;

/**
 * Finds the site because of which the kernel rejected a multi link.
 *
 * <p>The kernel rejects ten thousand sites with one error number and does not name the bad site. So this class tries
 * halves: if the first half fails, the site is in it, else in the second half. This costs a dozen more links, each
 * created and closed, which is acceptable after a failure. The links use a program that does nothing, because they fire
 * while they exist.
 *
 * <p>Tested by {@code AttacherTest} and {@code LinksTest}.
 */
record BadSite(AttachRequest request, LinkCommand.Details.UprobeMulti refused, Errno errno) {
    /** {@code return 0;} */
    private static final byte[] IDLE =
            Instructions.encode(Assembler.create().mov(Assembler.R0, 0).exit().assemble(), ByteOrder.nativeOrder());

    /**
     * The index of the first rejected site, from 0.
     *
     * @return empty if the sites are not the reason, or if the site can't be found
     */
    static OptionalInt find(AttachRequest request, LinkCommand.Details.UprobeMulti refused, SyscallException failure) {
        boolean maySiteBeReason = switch (failure.errno()) {
            case EINVAL, ENOTSUPP, ENOEXEC, EIO, EFAULT -> true;
            default -> false;
        };
        if (!maySiteBeReason || !request.features().has(Feature.UPROBE_MULTI_LINK)) {
            return OptionalInt.empty();
        }
        try (Fd program = idleProgram(request)) {
            return new BadSite(request, refused, failure.errno()).search(program);
        } catch (SyscallException e) {
            // This was only for an explanation: the original failure is reported without it.
            return OptionalInt.empty();
        }
    }

    private OptionalInt search(Fd program) {
        int from = 0;
        int to = refused.offsets().length;
        if (!fails(program, from, to)) {
            return OptionalInt.empty();
        }
        while (to - from > 1) {
            int middle = (from + to) >>> 1;
            if (fails(program, from, middle)) {
                to = middle;
            } else {
                from = middle;
            }
        }
        return OptionalInt.of(from);
    }

    private boolean fails(Fd program, int from, int to) {
        LinkCommand.Details.UprobeMulti part = new LinkCommand.Details.UprobeMulti(
                refused.path(),
                refused.descriptor(),
                Arrays.copyOfRange(refused.offsets(), from, to),
                part(refused.refCounterOffsets(), from, to),
                new long[0],
                refused.pid(),
                refused.returns(),
                refused.flags());
        int type = AttachType.TRACE_UPROBE_MULTI.number();
        try (Fd _ = request.execute(LinkCommand.Create.of("a part of the sites", program, type, part))) {
            return false;
        } catch (SyscallException e) {
            if (e.errno() != errno) {
                throw e;
            }
            return true;
        }
    }

    private static long[] part(long[] values, int from, int to) {
        return values.length == 0 ? values : Arrays.copyOfRange(values, from, to);
    }

    private static Fd idleProgram(AttachRequest request) {
        ProgCommand.Load load = ProgCommand.Load.of(ProgramType.KPROBE.number(), "", IDLE, "GPL")
                .withExpectedAttachType(AttachType.TRACE_UPROBE_MULTI.number());
        return switch (request.execute(load)) {
            case LoadResult.Loaded loaded -> loaded.fd();
            case LoadResult.Refused rejected -> throw new SyscallException(load.call(), rejected.errno(), null);
        };
    }
}
