package io.bpf4j.benchmarks;

import java.io.IOException;

/**
 * Repeats one of the largest kinds of work for a profiler. Takes the name of the work and a duration in seconds. When the
 * code is compiled it prints {@code measuring PID}, and then repeats the work for the duration.
 *
 * <p>Each kind of work is in a method of its own, because {@link FlameGraphMain} keeps the stacks with that method.
 */
final class ProfiledMain {
    private ProfiledMain() {}

    private interface Work {
        void run() throws IOException;
    }

    public static void main(String[] arguments) throws IOException {
        long seconds = Long.parseLong(arguments[1]);
        Work work = work(arguments[0]);
        repeat(work, seconds);
        System.out.println("measuring " + ProcessHandle.current().pid());
        repeat(work, seconds);
    }

    private static void repeat(Work work, long seconds) throws IOException {
        long end = System.nanoTime() + seconds * 1_000_000_000;
        while (System.nanoTime() < end) {
            work.run();
        }
    }

    private static Work work(String name) throws IOException {
        return switch (name) {
            case "attach50000" -> {
                Loaded.Attaching state = new Loaded.Attaching();
                state.sites = 50_000;
                state.load();
                yield () -> {
                    attach50000(state);
                    state.detach();
                };
            }
            case "attach500" -> {
                ManyProbesBenchmark.Detached state = new ManyProbesBenchmark.Detached();
                state.load();
                yield () -> {
                    attach500(state);
                    state.close();
                };
            }
            case "load" -> {
                LoadBenchmark.Loading state = new LoadBenchmark.Loading();
                state.object = "trace.bpf.o";
                state.parse();
                yield () -> {
                    load(state);
                    state.close();
                };
            }
            default -> throw new IllegalArgumentException("no work " + name);
        };
    }

    private static void attach50000(Loaded.Attaching state) throws IOException {
        state.link = state.attach();
    }

    private static void attach500(ManyProbesBenchmark.Probes state) throws IOException {
        state.attachOneByOne();
    }

    private static void load(LoadBenchmark.Loading state) {
        new LoadBenchmark().load(state);
    }
}
