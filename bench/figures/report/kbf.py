"""The figures of the kBF papers."""

import statistics

from axes import number
from figure import Figure, Finding, Plot
from kbf_codes import CODES, DECODING
from kbf_errors import ERRORS, MOMENTS
from kbf_memcached import MEMCACHED


def balance(data):
    published, ours = "as published", "with single moves (ours)"
    before, after = (data.points(name, "settings") for name in ("before", "after: " + published))
    fall, ours_fall = (data.mean(name, "fall of the imbalance", "mean") for name in (published, ours))
    alone = data.mean(published, "settings left alone", "mean")
    moved, ours_moved = (data.mean(name, "slabs that move", "mean") for name in (published, ours))
    falls = [100 * (1 - statistics.fmean(y) / statistics.fmean(x))
             for (_, x), (_, y) in zip(before, after)]
    return Finding(
        f"The imbalance falls by {fall:.1f} % on average, and most where it is large: by "
        f"{falls[0]:.0f} % in setting {before[0][0]:.0f}, counted from the worst, and by "
        f"{falls[-1]:.0f} % in setting {before[-1][0]:.0f}. {alone:.1f} % of the settings are left "
        f"as they are. {moved:.1f} % of the slabs move.",
        agrees=57 < fall < 65 and falls[0] > falls[-1],
        beyond=f"If a slab may also move without another in return, the imbalance falls by "
               f"{ours_fall:.1f} %; {ours_moved:.1f} % of the slabs move.",
        past=ours_fall > fall)


def flow_states(data):
    panel = "false negatives"
    sbf, counted, kbf, ours, *compact = data.series(panel)
    small = data.points(kbf, panel)[0][0]  # the smallest tables
    missed = {name: [statistics.fmean(y) for _, y in data.points(name, panel)]
              for name in data.series(panel)}
    equal = min((p for p, _ in data.points(sbf, panel)), key=lambda p: abs(
        data.mean(sbf, p, "memory") - data.mean(kbf, small, "memory")))
    share = data.mean(compact[0], small, "memory") / data.mean(ours, small, "memory")
    return Finding(
        f"From the largest p to the smallest, the false negatives of kBF fall from "
        f"{number(missed[kbf][0])} to {number(missed[kbf][-1])}, those of sBF only from "
        f"{number(missed[sbf][0])} to {number(missed[sbf][-1])}. This needs cells that stay unknown "
        f"for good: if a cell is known again when its last flow is gone, they reach "
        f"{number(missed[counted][-1])}. A cell of kBF has 4 bytes and one of sBF 2; in about equal "
        f"memory (p = {small:g} and p = {equal:g}) kBF misses {number(missed[kbf][0])} and sBF "
        f"{number(data.mean(sbf, equal, panel))}.",
        agrees=missed[kbf][-1] < missed[kbf][0] / 100 and missed[sbf][-1] > missed[sbf][0] / 10,
        beyond=f"At p = {small:g}, kBF with our corrections misses {number(missed[ours][0])}, and "
               f"compact {number(missed[compact[0]][0])} in {100 * share:.0f} % of its memory.",
        past=max(missed[ours][0], missed[compact[0]][0]) < missed[kbf][0])


FIGURES = [
    *CODES,
    *ERRORS,
    *MEMCACHED,
    *DECODING,
    *MOMENTS,
    Figure("kbf-20", "Figures 20 to 23", "Balancing slabs over servers",
           claim="Exchanging a slab of the most loaded server with one of the least loaded, at most "
                 "ten times, lowers the imbalance (standard deviation by mean of the loads) by "
                 "60.86 % on average, most where it is large; some settings stay as they are.",
           setting="As in the paper: 5 servers with 10 slabs, each with up to 10⁷ pairs, evenly "
                   "distributed; 100 settings. Here these are drawn 50 times. Servers are shown in "
                   "the order of their load, so that settings can be averaged.",
           plots=[Plot("server, by load", "million pairs", "loads", "Load of the servers"),
                  Plot("steps", "imbalance", "steps", "Imbalance after each step"),
                  Plot("setting, by imbalance before", "imbalance", "settings",
                       "Imbalance before and after"),
                  Plot("setting, by improvement", "fall of the imbalance, %", "gains",
                       "Improvement of each setting"),
                  Plot("", "%", "mean", "Mean of all settings", bars=True)],
           finding=balance,
           ours=("with single moves (ours)", "after: with single moves (ours)")),
    Figure("kbf-24", "Figures 24 and 25", "States of flows in kBF and sBF",
           claim="As p decreases, the false negatives of a kBF with the states of TCP flows fall "
                 "steeply, while those of the older sBF hardly change. The same holds for all errors "
                 "together.",
           setting="The paper replays an hour of recorded traffic with 908,522 flows. Here flows of "
                   "seven states are simulated (90,000 by default), one in nine of them at a time, "
                   "looked up before each change. Both filters have the cells of a Bloom filter "
                   "with error p for the flows that are there at a time. sBF is shown twice, "
                   "because the paper does not say whether a cell that two states have met in can "
                   "ever be used again.",
           plots=[Plot("p", "share of present flows", "false negatives", "False negatives",
                       log="xy"),
                  Plot("p", "share of all look-ups", "total", "All errors", log="xy"),
                  Plot("p", "bytes per flow", "memory", "Memory", log="x")],
           finding=flow_states,
           ours=("kBF with corrections (ours)", "compact in 1/10 of the memory (ours)",
                 "compact in 1/4 of the memory (ours)"),
           errata=("The false negatives of the sBF.", "Equal values cancel.")),
]
