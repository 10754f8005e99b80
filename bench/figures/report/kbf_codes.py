"""The figures of the kBF papers about codes and decoding."""

import math
import statistics

from axes import listed, number
from figure import Figure, Finding, Plot


def means(data, series, panel):
    return {x: statistics.fmean(values) for x, values in data.points(series, panel)}


def encoding_bits(data):
    n, (greedy,) = data.points("greedy search")[-1]
    bloom_n, (bloom,) = data.points("greedy search with a Bloom filter")[-1]
    best, ours = data.last("lower bound"), data.last("algebraic (ours)")
    fewer_n, (fewer,) = data.points("greedy search")[-3]
    each = (greedy - fewer) / math.log2(n / fewer_n)
    all_codes = greedy + each * (14 - math.log2(n))
    exact = data.mean("greedy search", bloom_n)
    return Finding(
        f"For {n:.0f} values the search takes {greedy:.0f} bits, where {best:.0f} is the bound. "
        f"Whenever the number of values doubles, the bound grows by two bits and the search takes "
        f"about {each:.1f} more; at this rate 2¹⁴ codes take {all_codes:.0f}. With a Bloom filter of 8 bits "
        f"per code and pair instead of an exact set, it takes {bloom:.0f} bits instead of "
        f"{exact:.0f} for {bloom_n:.0f} values; the errors of the filter skip numbers that could be "
        f"codes.",
        agrees=greedy <= best + 2,
        beyond=f"Codes (x, x³) over a finite field take {ours:.0f} bits and need no search: 16,383 "
               f"of them fit in 28.",
        past=ours < greedy)


def encoding_curve(data):
    code, fit = means(data, "greedy search", "curve"), means(data, "fitted parabola", "curve")
    off = max(abs(fit[x] - code[x]) for x in code) / max(code.values())
    reads = means(data, "regression", "reads")
    binary = means(data, "binary search", "reads")
    shown = list(reads)[-3:]
    return Finding(
        f"The parabola is off by up to {100 * off:.0f} % of the largest code, and the gaps between "
        f"codes grow, so that the mean gap is a poor step. To find a code takes "
        f"{listed(f'{reads[n]:.1f}' for n in shown)} reads on average for "
        f"{listed(f'{n:.0f}' for n in shown)} codes; a binary search takes "
        f"{listed(f'{binary[n]:.1f}' for n in shown)}.",
        agrees=reads[shown[-1]] < 6,
        beyond="An algebraic code contains its index: one read of a table shows whether it is one.",
        past=data.last("algebraic (ours)", "reads") < reads[shown[-1]])


def full_cells(data):
    published = data.series("n")[0]
    _, measured, ours = (means(data, name, "load") for name in data.series("load")[1:])
    n, values = data.points("measured: three keys or more", "n")[-1]
    seen, formula = statistics.fmean(values), data.mean(published, n, "n")
    off = max(abs(measured[rho] / data.mean(published, rho, "load") - 1) for rho in measured)
    full = min(ours, key=lambda rho: abs(rho - 1))
    return Finding(
        f"With {n:.0f} keys at ρ = 1, {100 * seen:.3f} % of the cells hold three keys or more; the "
        f"formula says {100 * formula:.3f} %. At other loads the two differ by {100 * off:.1f} % at "
        f"most.",
        agrees=abs(seen / formula - 1) < 0.03 and off < 0.05,
        beyond=f"Consistent decoding also draws on cells of three and four keys. At ρ = {full:g} it "
               f"cannot use {100 * ours[full]:.2f} % of the cells.",
        past=ours[full] < measured[full])


def decodability(data):
    panel = list(data.panels)[-1]
    published, corrected, measured, ours = data.series(panel)
    rho = min((x for x, _ in data.points(measured, panel)), key=lambda x: abs(x - 2))
    formula, right = data.mean(published, rho, panel), data.mean(corrected, rho, panel)
    seen = data.mean(measured, rho, panel)
    off = max(abs(seen / data.mean(corrected, x, k) - 1)
              for k in data.panels for x, seen in means(data, measured, k).items() if seen > 0.001)
    ratio = float(f"{seen / formula:.2g}")
    best, values = data.points(ours, panel)[0]
    return Finding(
        f"With {panel.replace('=', ' = ')} at ρ = {rho:g}, {number(seen)} of the keys cannot be "
        f"decoded, {ratio:,.0f} times the {number(formula)} of the formula. It is for cells that "
        f"random keys look at, while the cells of a key that is there hold this key already. "
        f"Counted that way, {number(right)} are expected; wherever one key in 1000 fails, "
        f"measurement and corrected formula differ by {100 * off:.0f} % at most.",
        agrees=seen < 2 * formula,
        beyond=f"Consistent decoding fails for {number(statistics.fmean(values))} of the keys at "
               f"ρ = {best:g}, where decode22 fails for {number(data.mean(measured, best, panel))}.",
        past=statistics.fmean(values) < data.mean(measured, best, panel))


def decoding_options(data):
    first, second, algebraic, sets, ours, wide = OPTIONS
    seen = {name: means(data, name, "measured") for name in data.series("measured")}
    p = next(iter(seen[first]))  # the largest, with the most errors
    bytes_first, bytes_second = (means(data, name, "memory") for name in (first, second))
    more = statistics.fmean(bytes_second[x] / bytes_first[x] - 1 for x in bytes_first)
    gain, gain_algebraic = (seen[first][p] / seen[name][p] for name in (second, algebraic))
    gain_predicted = data.mean(first, p, "predicted") / data.mean(second, p, "predicted")
    kbf, compact = (data.mean(name, p, "memory") for name in ("kbf (ours)", "compact (ours)"))
    return Finding(
        f"At p = {p:g} the first option misses {number(seen[first][p])} and the second "
        f"{number(seen[second][p])}, {gain:.1f} times fewer ({gain_predicted:.1f} are predicted). "
        f"This depends on the codes: of the sums that cells of three leave, few look like a pair if "
        f"codes are sparse, but half if they are as dense as can be, and then the gain is "
        f"{gain_algebraic:.1f}. The filter of all pairs "
        f"costs {100 * more:.1f} % more memory for 10⁷ pairs and 3000 values (21 % in the paper). The sets "
        f"of the earlier paper miss {number(seen[sets][p])}, but go through all codes for each key "
        f"without a cell of its own.",
        agrees=gain > 5 and 0.15 < more < 0.27,
        beyond=f"Consistent decoding misses {number(seen[ours][p])} in the same cells with dense "
               f"codes, and {number(seen[wide][p])} with the codes of a larger field, in constant "
               f"time and without filters. Planned for an error of {p:g} in "
               f"all, kbf takes {kbf:.1f} bytes per pair and compact {compact:.1f}, where the "
               f"second option takes {bytes_second[p]:.1f}.",
        past=seen[wide][p] < seen[second][p] and max(kbf, compact) < bytes_second[p])


OPTIONS = ("decode22 (option 1)", "decode23 too (option 2)", "decode23 too with algebraic codes",
           "sets as in the INFOCOM paper", "consistent decoding (ours)",
           "consistent decoding of wide codes (ours)")

CODES = [
    Figure("kbf-02", "Figure 2", "Bits of an encoding",
           claim="A greedy search finds codes for 2¹⁴ values in 30 bits, two above the bound.",
           setting="The search of the paper, with an exact set of the numbers taken and with a "
                   "Bloom filter of them.",
           plots=[Plot("values", "bits", log="x")],
           finding=encoding_bits,
           ours=("algebraic (ours)",),
           errata=("Codes.",)),
    Figure("kbf-03", "Figure 3", "Codes by index, and back",
           claim="Codes follow a parabola so closely that the index of a code is found from it with "
                 "three reads of the table, where a binary search takes 14.",
           setting="Least squares over all codes, then steps of the remaining difference by the "
                   "mean gap, as in the paper.",
           plots=[Plot("index", "code", "curve", "Codes"),
                  Plot("codes", "reads", "reads", "Reads to find a code, on average", log="x")],
           finding=encoding_curve,
           ours=("algebraic (ours)",),
           errata=("Reads to find a code (section 3.6).",)),
    Figure("kbf-04", "Figure 4", "Cells that cannot be decoded",
           claim="At capacity (ρ = 1), 3.33 % of the cells hold three keys or more, whatever their "
                 "number.",
           setting="Ten hash functions.",
           plots=[Plot("keys", "share of the cells", "n", "At capacity, by number of keys",
                       log="xy"),
                  Plot("capacity coefficient ρ", "share of the cells", "load", "By load", log="y")],
           finding=full_cells,
           ours=("measured: not used by consistent decoding (ours)",)),
    Figure("kbf-05", "Figure 5", "Keys that cannot be decoded",
           claim="With ten hash functions nearly all keys are decoded while ρ is below 2; fewer "
                 "hash functions allow less.",
           setting="3000 values, algebraic codes, counters up to 2. The share that fails is shown on "
                   "a logarithmic axis. Points with too few expected errors are left out.",
           plots=[Plot("capacity coefficient ρ", "share of the keys", f"k={k}", f"k = {k}", log="y")
                  for k in (4, 7, 10)],
           finding=decodability,
           ours=("consistent decoding (ours)",),
           errata=("Decodability (section 4).",)),
]

DECODING = [
    Figure("kbf-17", "Figures 17 and 18", "Decoding options",
           claim="In half of the cells, decoding cells of three too (option 2) leaves almost an order "
                 "of magnitude fewer false negatives than cells of one and two (option 1), for 21 % "
                 "more memory.",
           setting="200,000 pairs by default, 10⁷ in the paper; 3000 values. Memory is computed "
                   "for 10⁷ pairs, without the bytes of the values: cells, secondary kBF, codes, "
                   "and filters of codes and pairs with an error of 10⁻⁴. Below p = 10⁻³ a run "
                   "has few errors, so see the prediction there.",
           plots=[Plot("p", "false negatives", "measured", "False negatives, measured", log="xy"),
                  Plot("p", "false negatives", "predicted", "False negatives, predicted", log="xy"),
                  Plot("p", "bytes per pair", "memory", "Memory", log="x")],
           finding=decoding_options,
           ours=("consistent decoding (ours)", "consistent decoding of wide codes (ours)",
                 "kbf (ours)", "compact (ours)"),
           errata=("Two decoding options (section 6.4).",)),
]
