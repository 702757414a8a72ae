package io.bpf4j.loader.internal.sys;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** The commands of bpf(2) that attach programs. */
@SuppressWarnings("ArrayRecordComponent") // handed over once, never compared
public sealed interface LinkCommand<R> extends Command<R> {
    /** The part of BPF_LINK_CREATE that differs by attach type. */
    sealed interface Details {
        /** Nothing beyond the program, the target and the attach type. */
        record None() implements Details {}

        /**
         * Iterator.
         *
         * @param info the encoded {@code union bpf_iter_link_info}; empty for none
         * @param named what {@code info} has the number of; null for none
         */
        record Iter(byte[] info, @Nullable Fd named) implements Details {}

        record PerfEvent(long cookie) implements Details {}

        /**
         * Many uprobes in one file. Offsets are file offsets.
         *
         * @param path of the file; empty if the descriptor is given
         * @param descriptor number of the open file, which the caller keeps open (Linux 7.2)
         * @param refCounterOffsets file offsets of the semaphores, 0 for a site that has none; empty if none has one
         * @param cookies one for each offset; empty for none
         * @param pid process to look at; 0 for all
         * @param returns whether to fire when the function returns instead
         * @param flags {@code BPF_F_UPROBE_MULTI_*} beyond the one for returns
         */
        record UprobeMulti(
                String path,
                OptionalInt descriptor,
                long[] offsets,
                long[] refCounterOffsets,
                long[] cookies,
                int pid,
                boolean returns,
                int flags)
                implements Details {}

        /**
         * Many kprobes, by address or by symbol: one of the two lists is empty.
         *
         * @param cookies one for each function; empty for none
         */
        record KprobeMulti(long[] addresses, List<String> symbols, long[] cookies, boolean returns)
                implements Details {}

        /** fentry and the like; {@code targetBtfId} 0 for the function that the program was loaded for. */
        record Tracing(int targetBtfId, long cookie) implements Details {}

        /**
         * Many functions of one BTF object, that of the kernel or of a module, which the program was loaded for.
         *
         * @param functions their BTF ids
         * @param cookies one for each function; empty for none
         */
        record TracingMulti(int[] functions, long[] cookies) implements Details {}

        record Netfilter(int family, int hook, int priority, int flags) implements Details {}

        /**
         * tcx, netkit and cgroup with a place in the order. All 0 and null for the end.
         *
         * @param relative link or program; null for none, or by id
         * @param relativeId id in place of {@code relative}; 0 for none
         * @param expectedRevision 0 for any
         */
        record Ordered(@Nullable Fd relative, int relativeId, long expectedRevision) implements Details {}
    }

    /**
     * BPF_LINK_CREATE.
     *
     * @param what what it is for, for messages: {@code uprobes in /usr/lib/libc.so.6}
     * @param target perf event, cgroup, or map; null for none
     * @param targetIndex a number in place of {@code target}, such as an interface index; 0 for none
     * @param attachType the kernel's number
     */
    record Create(
            String what, Fd program, @Nullable Fd target, int targetIndex, int attachType, int flags, Details details)
            implements LinkCommand<Fd> {
        public static Create of(String what, Fd program, int attachType, Details details) {
            return new Create(what, program, null, 0, attachType, 0, details);
        }

        public Create withTarget(Fd newTarget) {
            return new Create(what, program, newTarget, 0, attachType, flags, details);
        }

        public Create withTarget(int newIndex) {
            return new Create(what, program, null, newIndex, attachType, flags, details);
        }

        public Create withFlags(int newFlags) {
            return new Create(what, program, target, targetIndex, attachType, newFlags, details);
        }

        @Override
        public String call() {
            return "bpf(BPF_LINK_CREATE) for " + what;
        }

        @Override
        public List<Fd> fds() {
            List<Fd> all = new ArrayList<>();
            all.add(program);
            if (target != null) {
                all.add(target);
            }
            Fd other = switch (details) {
                case Details.Ordered ordered -> ordered.relative();
                case Details.Iter iter -> iter.named();
                case Details.None _,
                        Details.PerfEvent _,
                        Details.UprobeMulti _,
                        Details.KprobeMulti _,
                        Details.Tracing _,
                        Details.TracingMulti _,
                        Details.Netfilter _ -> null;
            };
            if (other != null) {
                all.add(other);
            }
            return all;
        }
    }

    /** BPF_LINK_UPDATE: another program in place of the link's. */
    record Update(Fd link, Fd program, @Nullable Fd expected, int flags) implements LinkCommand<Integer> {
        @Override
        public String call() {
            return "bpf(BPF_LINK_UPDATE) of " + link.what() + " to " + program.what();
        }

        @Override
        public List<Fd> fds() {
            return expected == null ? List.of(link, program) : List.of(link, program, expected);
        }
    }

    /** BPF_LINK_DETACH: the link stays open and does nothing. */
    record Detach(Fd link) implements LinkCommand<Integer> {
        @Override
        public String call() {
            return "bpf(BPF_LINK_DETACH) of " + link.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(link);
        }
    }

    /**
     * BPF_RAW_TRACEPOINT_OPEN.
     *
     * @param tracepoint name without category; empty for tp_btf, fentry, lsm, where the program knows its target
     * @param cookie 0 for none; others need 6.10
     */
    record OpenRawTracepoint(String tracepoint, Fd program, long cookie) implements LinkCommand<Fd> {
        @Override
        public String call() {
            return "bpf(BPF_RAW_TRACEPOINT_OPEN) of " + program.what()
                    + (tracepoint.isEmpty() ? "" : " to " + tracepoint);
        }

        @Override
        public List<Fd> fds() {
            return List.of(program);
        }
    }

    /** BPF_PROG_ATTACH, for what has no link: sockmap, lirc, old cgroups. */
    record Attach(Fd program, Fd target, int attachType, int flags) implements LinkCommand<Integer> {
        @Override
        public String call() {
            return "bpf(BPF_PROG_ATTACH) of " + program.what() + " to " + target.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(program, target);
        }
    }

    /** BPF_PROG_DETACH, the reverse of {@link Attach}. */
    record DetachProgram(Fd program, Fd target, int attachType) implements LinkCommand<Integer> {
        @Override
        public String call() {
            return "bpf(BPF_PROG_DETACH) of " + program.what() + " from " + target.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(program, target);
        }
    }

    /** BPF_ITER_CREATE: each read of the descriptor gives what the iterator writes. */
    record CreateIter(Fd link) implements LinkCommand<Fd> {
        @Override
        public String call() {
            return "bpf(BPF_ITER_CREATE) of " + link.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(link);
        }
    }
}
