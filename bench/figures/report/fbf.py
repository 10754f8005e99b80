"""The figures of the FBF thesis."""

import itertools
import math
import statistics

from axes import number
from figure import Figure, Finding, Plot

IMPROVED, COMPACT = "improved fbf (ours)", "compact (ours)"
OURS = (IMPROVED, COMPACT)


def nearest(data, series, x, panel):
    """The x of a series that is nearest to this one."""
    return min((at for at, _ in data.points(series, panel)), key=lambda at: abs(at - x))


def ratios(data, above, below, panel):
    """[(x, mean of one series by the mean of another)], where both have points."""
    others = dict(data.points(below, panel))
    return [(x, statistics.fmean(y) / statistics.fmean(others[x]))
            for x, y in data.points(above, panel) if x in others]


def worst(data, series, panel):
    """(x, mean) where the mean is largest."""
    return max(((x, statistics.fmean(y)) for x, y in data.points(series, panel)),
               key=lambda point: point[1])


def checks(data):
    x = nearest(data, "optimized check", 300, "start")
    simple, optimized = (data.mean(name, x, "start") for name in ("simple check", "optimized check"))
    lower = 100 * (1 - optimized / simple)
    late = 100 * (1 - data.mean("optimized check", x, "steady") / data.mean("simple check", x, "steady"))
    bits = [data.mean(name, x, "memory") for name in ("optimized check", *OURS)]
    return Finding(
        f"With {x:.0f} elements in the first two intervals, the simple check errs in "
        f"{number(simple)} and the optimized one in {number(optimized)} of all queries, which is "
        f"{lower:.0f} % less. Two intervals after the start the oldest filter is only half full. In "
        f"steady state it is full and asked alone, and the gain is {late:.0f} %.",
        agrees=85 < lower < 95,
        beyond=f"For the error of the optimized check in steady state with {x:.0f} elements, which "
               f"takes {bits[0]:.0f} bits per element, our fbf takes {bits[1]:.0f} and compact "
               f"{bits[2]:.0f}.",
        past=max(bits[1:]) < bits[0])


def is_right(ratios):
    """Whether measured values are those of a formula, by their ratios."""
    return all(0.8 < ratio < 1.25 for ratio in ratios)


def formula_by_elements(data):
    start = [ratio for _, ratio in ratios(data, "measured", "Equation 4.3", "start")]
    steady = [ratio for _, ratio in ratios(data, "measured", "Equation 4.3", "steady")]
    ours = [ratio for _, ratio in ratios(data, "improved fbf (ours): measured",
                                         "improved fbf (ours): formula", "steady")]
    why = ("" if is_right(steady) else ", because all filters use the same positions and neighbours "
           "share elements, so that they err together")
    return Finding(
        f"In the first two intervals with three filters the measured error is {min(start):.2f} to "
        f"{max(start):.2f} times the computed one. In steady state with ten filters it is "
        f"{min(steady):.2f} to {max(steady):.2f} times that{why}.",
        agrees=is_right(start) and is_right(steady),
        beyond=f"Our fbf, whose filters have positions of their own, errs {min(ours):.2f} to "
               f"{max(ours):.2f} times as often as its formula says.",
        past=is_right(ours) and not is_right(steady))


def formula_by_size(data):
    near = [ratio for _, ratio in ratios(data, "measured", "Equation 4.3", "error")]
    seen = data.points("measured", "error")
    formula = data.points("Equation 4.3", "error")
    (small, high), (large, low) = formula[0], formula[-1]
    rare = [x for x, (y, *_) in formula if 200000 * y < 1]
    bits = [data.last(name, "memory") for name in ("published", *OURS)]
    return Finding(
        f"Up to {seen[-1][0]:.0f} bits the measured error is {min(near):.2f} to {max(near):.2f} "
        f"times that of the formula, which falls from {number(high[0])} at {small:.0f} bits to "
        f"{number(low[0])} at {large:.0f}. From {rare[0]:.0f} bits on, 200,000 queries see less "
        f"than one error on average, so they cannot confirm the formula there.",
        agrees=is_right(near),
        beyond=f"For the error of filters of {large:.0f} bits in steady state, {bits[0]:.0f} bits "
               f"per element, our fbf takes {bits[1]:.0f} and compact {bits[2]:.0f}.",
        past=max(bits[1:]) < bits[0])


def refresh_periods(data):
    long, *_, short = data.series("formula")
    x = nearest(data, long, 100, "formula")
    computed = [data.mean(name, x, "formula") for name in (long, short)]
    ours = [data.last(name, "measured") for name in OURS]
    memory = [data.last(name, "memory") / 1024 for name in ("published; any t", *OURS)]
    return Finding(
        f"By the formula the error at {x:.0f} elements per second is {computed[0] / computed[1]:.0f} "
        f"times as large with t = 5 s as with t = 1 s: {number(computed[0])} (measured: "
        f"{number(data.last(long, 'measured'))}) and {number(computed[1])}, which is too rare to be "
        f"measured. The error falls because less is remembered: three filters remember 2t for "
        f"certain, which is 10 s with t = 5 s and 2 s with t = 1 s.",
        agrees=500 < computed[0] / computed[1] < 2000,
        beyond=f"Ours always remember 10 s and grow with the load: planned for 50 elements per second and "
               f"an error of 0.001, they err at the highest load in {number(ours[0])} (fbf, "
               f"{memory[1]:.1f} KiB) and {number(ours[1])} (compact, {memory[2]:.1f} KiB), where the "
               f"three filters take {memory[0]:.1f} KiB.",
        past=max(ours) <= 0.001 and max(memory[1:]) < memory[0])


def filter_counts(data):
    names = data.series("steady")[:4]
    x = data.points(names[0], "formula")[-1][0]
    computed = data.mean(names[0], x, "formula") / data.mean(names[-1], x, "formula")
    started = data.mean(names[0], x, "start") / data.mean(names[-1], x, "start")
    rate = nearest(data, names[0], 100, "steady")
    steady = [data.mean(name, rate, "steady") for name in names]
    ours = [data.mean(name, rate, "steady") for name in OURS]
    more = ("more filters err more, because more is remembered: "
            if all(a < b for a, b in zip(steady, steady[1:])) else "")
    return Finding(
        f"At the start, when the load reaches {x:.0f} elements per second, three filters err "
        f"{computed:.1f} times as often as 24 by the formula and {started:.1f} times as measured. But "
        f"then the oldest of 24 filters is still empty; it is reached after 115 s. In steady state "
        f"{more}at {rate:.0f} elements per second 3, 6, 12 and 24 filters err in " +
        ", ".join(f"{error:.3f}" for error in steady[:-1]) +
        f" and {steady[-1]:.3f} of all queries.",
        agrees=all(a > b for a, b in zip(steady, steady[1:])),
        beyond=f"Ours remember as long as 24 filters, 115 s, at twice the load that they were planned "
               f"for, and promise 0.001: fbf errs in {number(ours[0])}, compact in {number(ours[1])}.",
        past=max(ours) <= 0.001 < steady[-1])


def adaptation(data):
    literal, careful = data.series("measured")[:2]
    target = data.last("target", "measured")
    top = worst(data, literal, "formula")[1]
    at, measured = worst(data, literal, "measured")
    most = [worst(data, name, "measured")[1] for name in (careful, *OURS)]
    lost_at, lost = worst(data, literal, "forgotten")
    filters = [int(y[0]) for _, y in data.points("filters", "row")]
    steps = [filters[0]] + [b for a, b in zip(filters, filters[1:]) if a != b]
    ours_lost = max(worst(data, name, "forgotten")[1] for name in OURS)
    why = " since the formula takes the filters for independent" if measured > top else ""
    loss = (f"And doubling forgets: the new filters are empty, the oldest of them is asked alone, and "
            f"what only the former oldest filter has is lost. If the load rises after a calm time, "
            f"{100 * lost:.0f} % of the elements of the last 22 s are not found at second "
            f"{lost_at:.0f}. Without this loss Algorithm 3 would let the error rise to "
            f"{number(most[0])}." if lost > 0 else "Nothing is forgotten early.")
    return Finding(
        "The filters go " + " → ".join(map(str, steps)) + f" (3 → 6 → 4 → 8 in the thesis), and the "
        f"computed error is at most {number(top)}, for a target of {number(target)}. The "
        f"measured error reaches {number(measured)} after {at:.0f} s{why and ','}{why}. {loss}",
        agrees=measured <= target and lost == 0,
        beyond=f"Ours forget {'nothing' if ours_lost == 0 else number(ours_lost)} early; at worst fbf "
               f"errs in {number(most[1])} and compact in {number(most[2])} of the queries of a second.",
        past=ours_lost == 0 and max(most[1:]) <= target)


COUNTER_FBF, COUNTER_COMPACT = "COUNTER with fbf (ours)", "COUNTER with compact (ours)"
COUNTERS = (COUNTER_FBF, COUNTER_COMPACT)
PLAIN = "plain increments"


def percent_range(values):
    return f"{min(values):.1f} to {max(values):.1f} %"


def counters_over_time(data):
    ways = "without WAIT", "with WAIT 1"
    plain, safe_plain = (data.values(PLAIN, way, "error") for way in ways)
    loose, safe = (max(max(data.values(name, way, "error")) for name in COUNTERS) for way in ways)
    return Finding(
        f"At the end of {len(plain)} runs, {percent_range(plain)} of the plain increments were wrong: "
        f"counted twice after a retry, or lost with a primary that had not yet replicated them. With "
        f"WAIT, {percent_range(safe_plain)} were. Of those of COUNTER, with either engine, "
        f"{f'up to {loose:.2g} %' if loose else 'none'} were wrong without WAIT, lost with a primary, and "
        f"{f'up to {safe:.2g} %' if safe else 'none'} with it.",
        agrees=safe == 0 and min(plain + safe_plain) > 0)


def compared(percent):
    return f"{abs(percent):.0f} % {'more' if percent >= 0 else 'less'} time"


def counter_latency(data):
    over = {name: {x: statistics.median(values) for x, values in data.points(name, "overhead")}
            for name in COUNTERS}
    single, batch = ([over[name][x] for name in COUNTERS]
                     for x in ("single; always", "batch of 50; always"))
    most, where = max((percent, x) for those in over.values() for x, percent in those.items())
    return Finding(
        f"With appendfsync always, COUNTER.INCRBY takes {compared(single[0])} than INCRBY with fbf and "
        f"{compared(single[1])} with compact. A batch of 50 takes {compared(batch[0])} with fbf and "
        f"{compared(batch[1])} with compact. The largest difference is {compared(most)} ({where}). On a "
        f"machine that does other work as well, these numbers vary.",
        agrees=max(batch) <= 15)


def counters_under_loss(data):
    plain = {panel: [statistics.fmean(y) for x, y in data.points(PLAIN, panel) if x > 0]
             for panel in ("lost", "late")}
    all_plain = plain["lost"] + plain["late"]
    worst_counter = max(max(y) for panel in plain for name in COUNTERS
                        for _, y in data.points(name, panel))
    shares = [x for x, _ in data.points(PLAIN, "lost") if x > 0]
    return Finding(
        f"With {min(shares):g} to {max(shares):g} % of the messages lost, "
        f"{percent_range(plain['lost'])} of the plain increments are counted twice; with as many late "
        f"ones {percent_range(plain['late'])}; {statistics.fmean(all_plain):.1f} % on average. It is "
        f"the lost and late replies that count, and the late requests. COUNTER is "
        f"{'always exact' if worst_counter == 0 else f'wrong by {worst_counter:.2g} %'}.",
        agrees=worst_counter == 0 and statistics.fmean(all_plain) > 0)


def retries(data):
    few, many = data.points("RBF")[0][0], data.points("RBF")[-1][0]
    rbf = [data.mean("RBF", x) for x in (few, many)]
    fbf = [data.mean("published FBF", x) for x in (few, many)]
    ring = data.mean("ring of plain filters", many)
    ours = max(data.mean(name, many) for name in OURS)
    all_rbf = [(x, statistics.fmean(y)) for x, y in data.points("RBF")]
    growth = [(after / before) ** (1 / math.log2(more / less))  # per doubling
              for (less, before), (more, after) in itertools.pairwise(all_rbf)]
    exponential = growth[-1] > growth[0]
    return Finding(
        f"From {few:.0f} % to {many:.0f} % of retried operations, the error of the counter grows from "
        f"{number(rbf[0])} % to {number(rbf[1])} % with the RBF, and goes from {number(fbf[0])} % to "
        f"{number(fbf[1])} % with the FBF. Each time the retries double, the error of the RBF is "
        f"multiplied by {', '.join(f'{factor:.1f}' for factor in growth)}; exponential growth would "
        f"have rising factors. A ring of three plain filters in the same memory has {number(ring)} %.",
        agrees=exponential and fbf[1] < 1.5 * fbf[0] and fbf[1] < rbf[1],
        beyond=f"Our fbf and compact, in the same memory, have {number(ours)} %.",
        past=ours < min(fbf))


FIGURES = [
    Figure("fbf-6.1", "Figure 6.1", "The optimized check and the simple one",
           claim="Asking neighbouring filters together instead of any filter alone lowers the rate of "
                 "false positives by 90 % at 300 operations.",
           setting="Three filters of 6250 bits, k = 5, t = 5 s, half of the elements in each interval; "
                   "queries for absent elements after two intervals, as in the thesis, and after five. "
                   "Ours remember the same elements for 10 s and are planned for the error of the "
                   "optimized check in steady state; they are measured with more elements, since a "
                   "window for 300 is mostly its fixed part.",
           plots=[Plot("elements", "false positives", "start", "After two intervals", log="y"),
                  Plot("elements in 10 s", "false positives", "steady", "Steady state", log="y"),
                  Plot("elements in 10 s", "bits per element", "memory",
                       "Memory for the error of the optimized check")],
           finding=checks, ours=OURS,
           errata=("Equation 4.1", "The optimized check gains a factor of two.")),
    Figure("fbf-6.2", "Figure 6.2", "The formula by the number of elements",
           claim="Equation 4.3 matches the measured rate of false positives as more elements are "
                 "inserted.",
           setting="Filters of 6250 bits, k = 5, t = 5 s. First as in the thesis, three filters after "
                   "two intervals; then ten filters in steady state, just before a refresh.",
           plots=[Plot("elements", "false positives", "start", "Three filters, after two intervals",
                       log="y"),
                  Plot("elements per interval", "false positives", "steady",
                       "Ten filters, steady state", log="y")],
           finding=formula_by_elements,
           ours=("improved fbf (ours): formula", "improved fbf (ours): measured"),
           errata=("The filters are not independent (chapter 4).",)),
    Figure("fbf-6.3", "Figure 6.3", "The formula by the size of a filter",
           claim="Equation 4.3 matches the measured rate of false positives for filters of 5,000 to "
                 "30,000 bits.",
           setting="Three filters, k = 5, 300 elements in the first two intervals. The thesis asks for "
                   "200,000 absent elements; we ask for as many as the error needs, and leave out what "
                   "is too rare.",
           plots=[Plot("bits of a filter", "false positives", "error", "Error", log="y"),
                  Plot("bits of a filter", "bits per element", "memory",
                       "Memory for the same error in steady state", log="y")],
           finding=formula_by_size, ours=OURS,
           errata=("Figure 6.3",)),
    Figure("fbf-6.4", "Figure 6.4", "The error by the refresh period",
           claim="Shorter refresh periods lower the error: at 100 operations per second, t = 5 s errs "
                 "1000 times as often as t = 1 s.",
           setting="Three filters of 25,000 bits, k = 5; 5000 elements with a load that grows "
                   "exponentially, as in the thesis. It does not say from where or how fast; we chose "
                   "1 to 97 per second in 240 s, so that its factor of 1000 comes out (a constant "
                   "load of 100 per second gives 2100). Each look is just before a refresh. Ours have "
                   "a window of 10 s.",
           plots=[Plot("elements per second", "false positives", "formula", "Equation 4.3", log="xy"),
                  Plot("elements per second", "false positives", "measured", "Measured", log="xy",
                       loose=OURS),
                  Plot("elements per second", "bytes", "memory", "Memory", log="xy")],
           finding=refresh_periods, ours=OURS),
    Figure("fbf-6.5", "Figure 6.5", "The error by the number of filters",
           claim="More filters lower the error: at 100 operations per second, three filters err 5.5 "
                 "times as often as 24.",
           setting="Filters of 6250 bits, k = 5, t = 5 s. First 3000 elements with a rising load, as in "
                   "the thesis. It does not say how fast the load rises; we chose an empty start and "
                   "100 per second after 60 s, so that its factor comes out by the formula. Then a "
                   "constant load, when all filters are in use, as the mean over an interval.",
           plots=[Plot("elements per second", "false positives", "formula",
                       "From the start: Equation 4.3", log="y"),
                  Plot("elements per second", "false positives", "start", "From the start: measured",
                       log="y"),
                  Plot("elements per second", "false positives", "steady", "Steady state", log="y",
                       loose=(IMPROVED,))],
           finding=filter_counts, ours=OURS,
           errata=("Figure 6.5",)),
    Figure("fbf-6.6", "Figure 6.6", "Adaptation to the load",
           claim="Doubling the filters when the error nears a target, and dropping one at a time when "
                 "it is far below, keeps the error below the target under a growing load.",
           setting="Three filters of 6250 bits, k = 5, t = 11 s at first, target 0.001. The load rises "
                   "to 48 elements per second, drops and rises again, from an empty start; the last "
                   "plot begins with 44 s of a constant load. The thesis does not give its load; ours is "
                   "chosen so that the number of filters goes the same way at first.",
           plots=[Plot("seconds", "false positives", "formula", "Equation 4.3", log="y"),
                  Plot("seconds", "filters, or seconds", "row", "What Algorithm 3 chooses"),
                  Plot("seconds", "false positives", "measured", "Measured", log="y",
                       loose=("Algorithm 3", "Algorithm 3; nothing forgotten early", *OURS)),
                  Plot("seconds", "share of the last 22 s", "forgotten",
                       "Elements that are forgotten early, after a calm time")],
           finding=adaptation, ours=OURS,
           errata=("Growth forgets (section 3.5).", "Figure 6.6")),
    Figure("fbf-6.7", "Figure 6.7", "Counters with and without a filter, against time",
           claim="While operations are retried, a counter with an FBF has the right value at any time, "
                 "and one without it is 6 % too high at the end; it also stays right when a node fails.",
           setting="A Redis cluster of three primaries with a replica each, in place of the simulator "
                   "of the thesis with ten servers. A proxy loses 5 % of the requests and replies, while "
                   "primaries are killed, stopped and replaced, and slots move. COUNTER and "
                   "plain HINCRBY, each without WAIT and with WAIT 1. Several runs with different faults; "
                   "true is what the clients were told has been counted.",
           plots=[Plot("seconds", "value", "time", "Values of the counters, without WAIT"),
                  Plot("seconds", "value", "time; WAIT", "Values of the counters, with WAIT 1"),
                  Plot("", "wrong increments, %", "error", "Error after the faults", bars=True)],
           finding=counters_over_time, live="once",
           ours=(*COUNTERS, f"{COUNTER_COMPACT}: counted", f"{COUNTER_COMPACT}: true")),
    Figure("fbf-6.8", "Figure 6.8", "The time of a counting write",
           claim="The check costs little: a batch of 50 counter updates takes 10 % longer with the FBF, "
                 "about 2 ms.",
           setting="Calls in turn on one connection to a primary of a Redis cluster with a replica; the "
                   "median of each run. A batch is one COUNTER.INCRBY, or 50 INCRBY in one write.",
           plots=[Plot("", "microseconds", "always", "Time of a call, appendfsync always", log="y",
                       bars=True, timed=True),
                  Plot("", "microseconds", "everysec", "Time of a call, appendfsync everysec", log="y",
                       bars=True, timed=True),
                  Plot("", "more than plain increments, %", "overhead", "Overhead", bars=True,
                       timed=True)],
           finding=counter_latency, live="once", ours=COUNTERS),
    Figure("fbf-6.9", "Figure 6.9", "Counters under retries",
           claim="A counter guarded by a recyclable Bloom filter (RBF) of the same memory errs "
                 "exponentially more as more operations are retried; with the FBF the error stays low "
                 "and level.",
           setting="Three filters of 500 bits, k = 3, against an RBF of 1500 bits. The thesis gives "
                   "neither load nor target nor t; we chose two operations per second, a target of 0.01 "
                   "for the RBF, and 5 s. Bits and load are 64 times as large, so that other windows fit "
                   "into the memory. Operations are retried once, within 10 s.",
           plots=[Plot("retried operations, %", "error of the counter, %", log="xy",
                       loose=("ring of plain filters",))],
           finding=retries, ours=OURS,
           errata=("Figure 6.9",)),
    Figure("fbf-6.11", "Figure 6.11", "Counters under loss and latency",
           claim="With loss and latency on the links, counters of Cassandra with an FBF are always right; "
                 "without it they are 5 % too high on average.",
           setting="A Redis cluster in place of Cassandra. A proxy loses or delays a share of the "
                   "messages, half of them requests and half replies; a late one comes after the timeout "
                   "of the client, which retries. All without WAIT.",
           plots=[Plot("lost messages, %", "wrong increments, %", "lost", "Error under loss"),
                  Plot("late messages, %", "wrong increments, %", "late", "Error under latency"),
                  Plot("lost messages, %", "ms", "time; lost", "Mean time of a call under loss",
                       log="y", timed=True),
                  Plot("late messages, %", "ms", "time; late", "Mean time of a call under latency",
                       log="y", timed=True)],
           finding=counters_under_loss, live="once", ours=COUNTERS),
]
