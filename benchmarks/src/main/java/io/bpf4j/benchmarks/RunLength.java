package io.bpf4j.benchmarks;

/** How much is measured. */
enum RunLength {
    /** Shows that everything runs. */
    SMOKE(1, 1),
    QUICK(1, 9),
    FULL(3, 17);

    final int rounds;

    /** Of what is timed shot by shot, in a round. */
    final int shots;

    RunLength(int rounds, int shots) {
        this.rounds = rounds;
        this.shots = shots;
    }
}
