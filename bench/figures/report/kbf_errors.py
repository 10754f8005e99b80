"""The figures of the kBF papers about errors and memory: 7 to 14, 19, and 8 of INFOCOM.

Series are named "KIND p=P"; those of the published kBF have more values of p at larger scales.
"""

import itertools

from axes import number, power_label
from figure import Figure, Finding, Plot

PUBLISHED, LITERAL = "published", "to the letter"
OURS, WIDE, COMPACT = "kbf (ours)", "kbf wide codes (ours)", "compact (ours)"

WORKLOAD = ("Keys as in the paper. By default 30,000 to 100,000 pairs and 1000 values, where the "
            "paper has 10⁷ and 3000. Published: codes of the greedy search, and decoding of cells of "
            "two and three. kbf (ours): the same number of cells, masked codes and consistent "
            "decoding; wide codes: planned for 16,383 values, so that few wrong codes are assigned "
            "ones. compact (ours): planned for the error p, in a tenth of the memory of m cells or "
            "less.")


def p_of(series):
    return float(series.split(" p=")[1])


def errors_of(data, kind, panel):
    """{p: name of the series}, the largest p first."""
    names = [name for name in data.series(panel) if name.startswith(kind + " p=")]
    return {p_of(name): name for name in sorted(names, key=p_of, reverse=True)}


def p_text(p):
    return f"{p:g}" if p >= 0.001 else power_label(p)


def share(value):
    return number(value) if value > 0 else "none"


def names_of(kinds, errors):
    return tuple(f"{kind} p={p:g}" for kind in kinds for p in errors)


# ---- 7 and 8 ------------------------------------------------------------------------------------

def errors_by_size(data):
    p = 0.001
    missed, found, ours, compact = (f"{kind} p={p:g}"
                                    for kind in (PUBLISHED, PUBLISHED, OURS, COMPACT))
    wide, narrow = (f"{kind} p=0.01" for kind in (WIDE, OURS))
    at = {(panel, name, x): data.mean(name, x, panel) for panel in ("negatives", "positives")
          for name in (missed, ours, compact) for x, _ in data.points(name, panel)}
    whole = max(data.mean(name, 1.0, "negatives")
                for p_here, name in errors_of(data, PUBLISHED, "negatives").items() if p_here <= p)
    rates = {p_here: data.mean(name, 1.0, "positives")
             for p_here, name in errors_of(data, PUBLISHED, "positives").items()}
    least = data.points(missed, "negatives")[-1][0]
    return Finding(
        f"In m cells and with p ≤ {p_text(p)}, the share of keys that cannot be decoded is "
        f"{number(whole)}; for p = {p_text(p)}, that of absent keys that get a value is "
        f"{number(rates[p])}. In m/2 cells they are "
        f"{number(at['negatives', missed, 0.5])} and {number(at['positives', found, 0.5])}, in "
        f"{least:g} m {number(at['negatives', missed, least])} and "
        f"{number(at['positives', found, least])}. No value was wrong.",
        agrees=whole < 1e-4 and at["negatives", missed, least] > 10 * at["negatives", missed, 0.5] and
        all(rate < 2 * p_here for p_here, rate in rates.items()),
        beyond=f"In m/2 cells consistent decoding misses {number(at['negatives', ours, 0.5])} of the "
               f"keys and finds {share(at['positives', ours, 0.5])} of the absent ones; for "
               f"p = {p_text(p_of(wide))} it misses {number(data.mean(narrow, 0.5, 'negatives'))}, with "
               f"wide codes {number(data.mean(wide, 0.5, 'negatives'))}. compact has "
               f"an error of {number(at['positives', compact, 1.0])} in "
               f"{data.mean(compact, 1.0, 'bytes'):.1f} bytes per key instead of "
               f"{data.mean(missed, 1.0, 'bytes'):.0f}.",
        past=all(at[panel, ours, 0.5] < at[panel, missed, 0.5] for panel in ("negatives", "positives")))


# ---- INFOCOM 8 ----------------------------------------------------------------------------------

def memory_by_p(data):
    (largest, first), *_, (smallest, last) = data.points("published shape")
    tuned, compact = ([data.mean(name, p) for p in (largest, smallest)]
                      for name in ("kbf tuned (ours)", "compact (ours)"))
    return Finding(
        f"{first[0]:.0f} bytes per key for p = {p_text(largest)} and {last[0]:.0f} for "
        f"p = {p_text(smallest)}, with the values: {first[0] / 100:.2f} and {last[0] / 100:.2f} GB "
        f"for 10⁷ pairs, where the paper has 0.5 to 1.5 GB.",
        agrees=0.5 < first[0] / 100 < last[0] / 100 < 1.5 and all(
            more[0] > less[0]
            for (_, less), (_, more) in itertools.pairwise(data.points("published shape"))),
        beyond=f"Sized for the errors that consistent decoding leaves, kbf takes {tuned[0]:.0f} and "
               f"{tuned[1]:.0f} bytes per key; compact takes {compact[0]:.1f} and {compact[1]:.1f}.",
        past=max(tuned[0], compact[0]) < first[0] and max(tuned[1], compact[1]) < last[0])


# ---- 9 to 12 ------------------------------------------------------------------------------------

def first_and_last(data, series, panel):
    points = data.points(series, panel)
    return [sum(values) / len(values) for _, values in (points[0], points[-1])]


def first_and_last_rates(data, kind):
    """(errors_of() of half the cells, {panel: [(first, last) of each]})"""
    names = {panel: errors_of(data, kind, panel) for panel in ("full", "half")}
    return names["half"], {panel: [first_and_last(data, name, panel) for name in those.values()]
                           for panel, those in names.items()}


def after_deletions(data):
    half, rates = first_and_last_rates(data, PUBLISHED)
    p, (begin, end) = list(half)[1], rates["half"][1]
    ours = first_and_last(data, f"{OURS} p={p:g}", "half")
    much_fewer = all(small[0] <= large[0] / 2 for panel in rates.values()
                     for large, small in zip(panel, panel[1:]))
    return Finding(
        f"With p = {p_text(p)} and m/2 cells, {number(begin)} of the deleted keys still get a value "
        f"after the first batch, and {number(end)} after the last; with m cells "
        f"{number(rates['full'][1][0])} and {number(rates['full'][1][1])}. "
        f"{'Every' if much_fewer else 'Not every'} smaller p has less than half as many. What is left at "
        f"the end are keys that could not be decoded when they were to be deleted, "
        f"and that can be decoded now.",
        agrees=much_fewer,
        beyond=f"kbf with our corrections has {number(ours[0])} and {number(ours[1])} in the same "
               f"m/2 cells. In compact a deleted key is always gone, and with it any other that has the "
               f"same fingerprint.",
        past=ours[0] < begin)


def after_updates(data):
    half, rates = first_and_last_rates(data, LITERAL)
    p = list(half)[1]
    begin, end = rates["half"][1]
    refusing = first_and_last(data, f"{PUBLISHED} p={p:g}", "half")
    ours = first_and_last(data, f"{WIDE} p={p:g}", "half")
    large = list(half)[0]
    worst, worst_refusing = (first_and_last(data, f"{kind} p={large:g}", "half")
                             for kind in (LITERAL, PUBLISHED))
    much_fewer = all(small[1] <= large[1] / 2 for panel in rates.values()
                     for large, small in zip(panel, panel[1:])) and \
        all(full[1] <= half[1] / 2 for full, half in zip(rates["full"], rates["half"]))
    return Finding(
        f"With p = {p_text(p)} and m/2 cells, {number(begin)} of the keys have no right answer after "
        f"the first batch, and {number(end)} after the last; with m cells "
        f"{number(rates['full'][1][1])}. The errors add up over the batches, because an update of "
        f"a key that is not decodable damages others: for p = {large:g} from {number(worst[0])} to "
        f"{number(worst[1])}, and to {number(worst_refusing[1])} if such updates are refused. A "
        f"smaller p and a larger table {'always' if much_fewer else 'do not always'} have less than "
        f"half as many.",
        agrees=much_fewer,
        beyond=f"kbf with our corrections refuses them, and has {number(ours[1])} after the last batch, "
               f"where the published decoding has {number(refusing[1])} if it refuses them too.",
        past=ours[1] < refusing[1])


# ---- 13 and 14 ----------------------------------------------------------------------------------

def after_join(data):
    names = {p: name for p, name in errors_of(data, PUBLISHED, "join").items()}
    p = 0.001 if 0.001 in names else min(names)
    rates = {(panel, x): data.mean(names[p], x, panel) for panel in ("join", "compress")
             for x in (0.5, 1.0)}
    below = max(data.mean(names[p], x, "join") for x, _ in data.points(names[p], "join") if x <= 0.5)
    large = list(names)[1]
    at_one = [data.mean(f"{kind} p={large:g}", 1.0, "join") for kind in (PUBLISHED, OURS, WIDE)]
    return Finding(
        f"With p = {p_text(p)}, {share(below)} of the keys are lost up to ρ = 0.5, where the sum is "
        f"1, and {number(rates['join', 1.0])} at ρ = 1; a table that is folded in half gives "
        f"{number(rates['compress', 0.5])} and {number(rates['compress', 1.0])}.",
        agrees=below < 1e-4 and rates["join", 1.0] > 10 * below and
        rates["compress", 1.0] > 10 * rates["compress", 0.5],
        beyond=f"At ρ = 1 and p = {p_text(large)}, the published decoding loses "
               f"{number(at_one[0])} of the keys in a JOIN, consistent decoding {number(at_one[1])}, "
               f"and {number(at_one[2])} with wide codes. The errors of compact do not grow when maps "
               f"are merged that were planned for all keys.",
        past=at_one[2] < at_one[0])


# ---- 19 -----------------------------------------------------------------------------------------

def moments(data):
    by_p = dict(sorted(((p, sum(values) / len(values))
                        for p, values in data.points(PUBLISHED, "patches")), reverse=True))
    largest, *_, smallest = by_p
    farthest = {p: data.points(f"{PUBLISHED} p={p:g}", "distance")[0] for p in by_p}
    ours, compact = ([data.mean(name, p, "patches") for p in (largest, smallest)]
                     for name in (OURS, COMPACT))
    differ = [f"{number(100 * part)} % {'of the patches differ ' if p == largest else ''}for "
              f"{'p = ' if p == largest else ''}{p_text(p)}" for p, part in by_p.items()]
    top = number(sum(farthest[largest][1]) / len(farthest[largest][1]))
    return Finding(
        f"{', '.join(differ[:-1])}, and {differ[-1]}: peaks get rare as p falls, "
        f"{'and none are left' if by_p[smallest] == 0 else 'but some are left where the paper has none'}. At "
        f"p = {p_text(largest)}, one patch in a thousand is at least {top} away from the exact one.",
        agrees=list(by_p.values()) == sorted(by_p.values(), reverse=True) and by_p[smallest] == 0,
        beyond=f"With masked codes, {number(100 * ours[0])} % of the patches differ for "
               f"p = {p_text(largest)} and {number(100 * ours[1])} % for {p_text(smallest)}. compact, "
               f"which uses up the error it is planned for, has {number(100 * compact[0])} % and "
               f"{number(100 * compact[1])} %, in far less memory.",
        past=ours[0] < by_p[largest] and ours[1] <= by_p[smallest])


# ---- the list -----------------------------------------------------------------------------------

ERRORS = [
    Figure("kbf-07", "Figures 7 and 8", "False negatives and false positives by size",
           claim="In m cells, the size of a Bloom filter with error p, there are almost no false "
                 "negatives, and false positives about as often as p says. In fewer cells false "
                 "negatives rise exponentially, and false positives rise too. No value is wrong.",
           setting=WORKLOAD + " The paper ends at m/2. compact has one size, drawn as a line.",
           plots=[Plot("cells, as a share of m", "share of present keys", "negatives",
                       "False negatives", log="y",
                       loose=names_of((PUBLISHED, OURS, WIDE, COMPACT), (0.01, 0.001))),
                  Plot("cells, as a share of m", "share of absent keys", "positives",
                       "False positives", log="y",
                       loose=names_of((PUBLISHED, COMPACT), (0.001,)) +
                       names_of((OURS, WIDE), (0.01, 0.001))),
                  Plot("cells, as a share of m", "bytes per key", "bytes", "Memory of the cells",
                       log="y")],
           finding=errors_by_size,
           ours=names_of((OURS,), (0.01, 0.001)) + names_of((WIDE,), (0.01,)) +
           names_of((COMPACT,), (0.001,)),
           errata=("A decoded value must fit every cell.",)),
    Figure("kbfi-08", "INFOCOM, Figure 8", "Memory by p",
           claim="A smaller p takes more memory: the whole kBF for 10⁷ pairs takes 0.5 to 1.5 GB for p "
                 "from 10⁻³ to 10⁻⁶, depending on the parameters.",
           setting="Keys and values as in the paper, 200,000 pairs by default; all stores keep each "
                   "distinct value once, which counts.",
           plots=[Plot("p", "bytes per key", log="x")],
           finding=memory_by_p,
           ours=("kbf tuned (ours)", "compact (ours)")),
    Figure("kbf-09", "Figures 9 and 10", "False positives after deletions",
           claim="When all keys are deleted in ten batches, few of the deleted keys still get a "
                 "value, and much fewer for a smaller p.",
           setting=WORKLOAD + " After each batch all keys deleted so far are looked up (at full scale "
           "every tenth). A key that "
           "is not decodable is not deleted. p = 0.1 and 0.01 are added, because the values "
           "of the paper show few errors.",
           plots=[Plot("batches deleted", "share of deleted keys", "full", "m cells", log="y",
                       loose=names_of((PUBLISHED, OURS), (0.1, 0.01))),
                  Plot("batches deleted", "share of deleted keys", "half", "m/2 cells", log="y",
                       loose=names_of((PUBLISHED, OURS), (0.01,)))],
           finding=after_deletions,
           ours=names_of((OURS,), (0.1, 0.01)) + names_of((COMPACT,), (0.01,)),
           errata=("Update and delete of an undecodable key (Algorithms 4 and 5).",)),
    Figure("kbf-11", "Figures 11 and 12", "False negatives after updates",
           claim="When all keys are updated in ten batches, few keys get no value or a wrong one, "
                 "and much fewer for a smaller p and a larger table.",
           setting=WORKLOAD + " To the letter: updates as in the listing, also of keys that are not "
           "decodable; the others refuse those. After each batch all keys are looked up "
           "(at full scale every tenth).",
           plots=[Plot("batches updated", "share of keys", "full", "m cells", log="y",
                       loose=names_of((LITERAL, PUBLISHED, WIDE), (0.01,))),
                  Plot("batches updated", "share of keys", "half", "m/2 cells", log="y")],
           finding=after_updates,
           ours=names_of((WIDE,), (0.1, 0.01)) + names_of((COMPACT,), (0.01,)),
           errata=("Update and delete of an undecodable key (Algorithms 4 and 5).",)),
    Figure("kbf-13", "Figures 13 and 14", "False negatives after JOIN and COMPRESS",
           claim="Two tables joined into one, or one folded in half, lose almost no key as long as "
                 "the capacity coefficients ρ add up to at most 1, and exponentially more beyond.",
           setting=WORKLOAD + " ρ is that of each table before. COMPRESS folds once, from an even "
           "number of cells. p = 0.1 and 0.01 are added.",
           plots=[Plot("ρ of each of the two tables", "share of keys", "join", "JOIN", log="y",
                       loose=names_of((PUBLISHED, OURS, WIDE), (0.1, 0.01))),
                  Plot("ρ of the table", "share of keys", "compress", "COMPRESS", log="y",
                       loose=names_of((PUBLISHED, OURS, WIDE), (0.1, 0.01)))],
           finding=after_join,
           ours=names_of((OURS,), (0.1, 0.01)) + names_of((WIDE, COMPACT), (0.01,)),
           errata=("Join needs more than equal sizes.",)),
]

MOMENTS = [
    Figure("kbf-19", "Figure 19", "Moments of an image of flow states",
           claim="If the states of flows are taken as an image of 496 × 496 pixels, Hu's seven moments "
                 "of its 8 × 8 patches differ from those of the states that a kBF returns in a few "
                 "peaks for p = 0.01, fewer for 0.001, and none for 0.0001.",
           setting="The paper has recorded traffic; here flows of seven states are simulated, each up "
                   "to a random step of its life, in an image of the same size. A state that is not "
                   "decodable is 0. Patches are shown by rank, the one that differs most first.",
           plots=[Plot("p", "share of patches", "patches", "Patches that differ", log="xy",
                       loose=(PUBLISHED, COMPACT)),
                  Plot("rank, as a share of the patches", "distance of the moments", "distance",
                       "How far", log="xy",
                       loose=names_of((PUBLISHED, COMPACT), (0.01, 0.001, 0.0001)))],
           finding=moments,
           ours=(OURS, COMPACT) + names_of((OURS, COMPACT), (0.01, 0.001, 0.0001)),
           errata=("Equal values cancel.",)),
]
