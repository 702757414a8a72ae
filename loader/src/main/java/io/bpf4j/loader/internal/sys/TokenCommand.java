package io.bpf4j.loader.internal.sys;

import java.util.ArrayList;
import java.util.List;

/**
 * BPF tokens (Linux 6.9, commit 35f96de04127 "bpf: Introduce BPF token object"): rights to load, delegated to a user
 * namespace by whoever mounted its BPF file system.
 */
public sealed interface TokenCommand<R> extends Command<R> {
    /** BPF_TOKEN_CREATE from the root directory of a BPF file system. */
    record Create(Fd bpffs) implements TokenCommand<Fd> {
        @Override
        public String call() {
            return "bpf(BPF_TOKEN_CREATE) from " + bpffs.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(bpffs);
        }
    }

    /** Creates a map with the rights of a token. */
    record CreateMap(MapCommand.Create map, Fd token) implements TokenCommand<Fd> {
        @Override
        public String call() {
            return map.call() + " with " + token.what();
        }

        @Override
        public List<Fd> fds() {
            return TokenCommand.with(token, map);
        }
    }

    /** Loads a program with the rights of a token. */
    record Load(ProgCommand.Load program, Fd token) implements TokenCommand<LoadResult> {
        @Override
        public String call() {
            return program.call() + " with " + token.what();
        }

        @Override
        public List<Fd> fds() {
            return TokenCommand.with(token, program);
        }
    }

    /** Loads BTF with the rights of a token. */
    record LoadBtf(ProgCommand.LoadBtf btf, Fd token) implements TokenCommand<LoadResult> {
        @Override
        public String call() {
            return btf.call() + " with " + token.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(token);
        }
    }

    private static List<Fd> with(Fd token, Command<?> command) {
        List<Fd> all = new ArrayList<>(command.fds());
        all.add(token);
        return all;
    }
}
