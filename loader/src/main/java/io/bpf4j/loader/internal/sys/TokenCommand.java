package io.bpf4j.loader.internal.sys;

import java.lang.foreign.MemorySegment;

/**
 * BPF tokens (Linux 6.9, commit 35f96de04127 "bpf: Introduce BPF token object"): rights to load, delegated to a user
 * namespace by whoever mounted its BPF file system.
 */
public sealed interface TokenCommand<R> extends Command<R> {
    /** BPF_TOKEN_CREATE from the root directory of a BPF file system. */
    record Create(Fd bpffs) implements TokenCommand<Fd> {
        private static final StructLayout ATTR = StructLayout.of("bpf_attr.token_create", "u32 flags, bpffs_fd");

        @Override
        public String call() {
            return "bpf(BPF_TOKEN_CREATE) from " + bpffs.what();
        }

        @Override
        public Fd run(Call call) {
            MemorySegment attr = call.attr(ATTR);
            ATTR.set(attr, "bpffs_fd", call.hold(bpffs));
            return call.fd(call.bpfResult(36, attr), "BPF token of " + bpffs.what());
        }
    }

    /** Another command with the rights of a token: one that creates a map, or loads a program or BTF. */
    record With<R>(Command<R> command, Fd token) implements TokenCommand<R> {
        @Override
        public String call() {
            return command.call() + " with " + token.what();
        }

        @Override
        public R run(Call call) {
            call.useToken(token);
            return command.run(call);
        }
    }
}
