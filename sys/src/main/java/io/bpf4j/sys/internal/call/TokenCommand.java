package io.bpf4j.sys.internal.call;

/**
 * BPF tokens (Linux 6.9, commit 35f96de04127 "bpf: Introduce BPF token object"): rights to load, delegated to a user
 * namespace by whoever mounted its BPF file system.
 */
public sealed interface TokenCommand<R> extends Command<R> {
    /** BPF_TOKEN_CREATE from the root directory of a BPF file system. */
    record Create(Fd bpffs) implements TokenCommand<Fd> {
        private static final StructLayout ATTR = StructLayout.of("bpf_attr.token_create", "u32 flags, bpffs_fd");

        @Override
        public Fd run(Call call) {
            return call.fd(
                    call.bpfResult(BpfCommand.TOKEN_CREATE, call.attr(ATTR, 0, call.hold(bpffs))),
                    "BPF token of " + bpffs.description());
        }
    }

    /** A command with the rights of a token: one that creates a map, or loads a program or BTF. */
    record With<R>(Command<R> command, Fd token) implements TokenCommand<R> {
        @Override
        public R run(Call call) {
            call.useToken(token);
            return command.run(call);
        }
    }

    @Override
    default String call() {
        return switch (this) {
            case Create(Fd bpffs) -> BpfCommand.TOKEN_CREATE + " from " + bpffs.description();
            case With<R> with -> with.command.call() + " with " + with.token.description();
        };
    }
}
