package io.bpf4j.benchmarks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The times of all shots of one piece of work, in its unit, from all rounds. <i>Confined.</i> */
final class Times {
    private final List<Double> shots = new ArrayList<>();

    void addAll(double... some) {
        for (double shot : some) {
            shots.add(shot);
        }
    }

    int count() {
        return shots.size();
    }

    double shortest() {
        return at(0);
    }

    double median() {
        return at(0.5);
    }

    /** The time that 9 of 10 shots don't exceed. */
    double slowTenth() {
        return at(0.9);
    }

    /** The time at a part of the sorted shots, from 0 for the shortest to 1 for the longest. */
    private double at(double part) {
        double[] sorted =
                shots.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        double place = part * (sorted.length - 1);
        int below = (int) Math.floor(place);
        int above = (int) Math.ceil(place);
        return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
    }

    double[] toArray() {
        double[] all = shots.stream().mapToDouble(Double::doubleValue).toArray();
        Arrays.sort(all);
        return all;
    }
}
