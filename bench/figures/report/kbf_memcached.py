"""The figures of the kBF papers that compare with Memcached."""

import statistics

from figure import Figure, Finding, Plot


MISSING = Finding("Memcached was not measured, because it is not installed or the scale is small. So "
                  "there is nothing to compare with.",
                  agrees=None)


def ratios(data, panels, slow, fast):
    """How many times as long one series takes as another at the last x of each panel."""
    return [data.last(slow, panel) / data.last(fast, panel) for panel in panels]


def span(values):
    return f"{min(values):.2g} to {max(values):.2g}"


def memcached_times(data):
    panels, kbf, theirs = ("insert", "query", "delete"), "kBF in the process", "Memcached"
    ours, served = "compact in the process (ours)", "kBF in our server (ours)"
    pairs = data.points(kbf, "query")[-1][0]
    if theirs not in data.series("query"):
        return MISSING
    many = ratios(data, panels, theirs, kbf)
    words = [x for x, _ in data.points(kbf, "single")]
    single = [data.mean(theirs, x, "single") / data.mean(kbf, x, "single") for x in words]
    between = min(many) < 10 < max(single)
    text = (f"With {pairs:.0f} pairs and 100 keys per request, Memcached takes {span(many)} times as "
            f"long as kBF in the process, which needs no transport, and with one key per request "
            f"{span(single)} times{', so that ten, as in the paper, lies between' if between else ''}.")
    past = False
    beyond = (f"In the process, Memcached takes {span(ratios(data, panels, theirs, ours))} times as "
              f"long as compact.")
    if served in data.series("query"):
        equal = [data.mean(theirs, x, "single") / data.mean(served, x, "single") for x in words]
        text += (f" Over the same transport, with kBF in our server, Memcached takes "
                 f"{span(ratios(data, panels, theirs, served))} times as long for 100 keys and "
                 f"{span(equal)} times for one.")
        faster = ratios(data, panels, theirs, "compact in our server (ours)")
        past = min(faster) > 1
        beyond += f" With compact in our server it takes {span(faster)} times as long for 100 keys."
    return Finding(text, agrees=min(many) > 1 and between, beyond=beyond, past=past)


def memcached_memory(data):
    theirs, panel = "Memcached", "memory"
    kbf = [name for name in data.series(panel) if name.startswith("kBF")]
    ours = next(name for name in data.series(panel) if name.startswith("compact"))
    if theirs not in data.series(panel):
        return MISSING

    def saved(name):
        return statistics.fmean(1 - data.mean(name, x, panel) / data.mean(theirs, x, panel)
                                for x, _ in data.points(name, panel))
    shares = {name: 100 * saved(name) for name in (*kbf, ours)}
    return Finding(
        f"kBF saves {shares[kbf[0]]:.0f} % with p = 10⁻³ and {shares[kbf[-1]]:.0f} % with "
        f"p = 10⁻⁶. A pair takes {data.last(theirs, 'pair'):.0f} bytes in Memcached and "
        f"{data.last(kbf[0], 'pair'):.0f} or {data.last(kbf[-1], 'pair'):.0f} in kBF, which has "
        f"neither the key nor a copy of the value. The paper's figure needs shorter values than "
        f"its workload has.", agrees=abs(shares[kbf[0]] - 30) < 10,
        beyond=f"compact takes {data.last(ours, 'pair'):.1f} bytes per pair and saves "
               f"{shares[ours]:.1f} %.",
        past=shares[ours] > shares[kbf[0]])


MEMCACHED = [
    Figure("kbf-15", "Figure 15", "Time of kBF and of Memcached",
           claim="Inserting, querying and deleting take constant time per pair in both, and kBF is "
                 "almost ten times as fast as Memcached.",
           setting="Keys and values as in the paper: keys of 36 and values of 196 bytes on average, "
                   "3000 of them different. The paper has up to 10⁷ pairs in kBF and does not say "
                   "how it talks to Memcached. Here all servers run on the same machine and get the "
                   "same keys, 100 per request. kBF in the process has the "
                   "paper's shape; in our server it is sized for its own errors. Time is the processor time "
                   "of client and server together, so that other programs do not count; for one key per request it is "
                   "the median of what the client waits.",
           plots=[Plot("pairs", "seconds", "insert", "Insert all pairs", timed=True),
                  Plot("pairs", "seconds", "query", "Query all pairs", timed=True),
                  Plot("pairs", "seconds", "delete", "Delete all pairs", timed=True),
                  Plot("", "microseconds", "single", "One key per request", bars=True, timed=True)],
           finding=memcached_times,
           ours=("kBF in our server (ours)", "compact in our server (ours)",
                 "compact in the process (ours)"),
           servers=("Memcached", "Redis strings", "kBF in our server (ours)",
                    "compact in our server (ours)"),
           errata=("Ten times as fast as Memcached (Figure 15).",)),
    Figure("kbf-16", "Figure 16", "Memory of kBF and of Memcached",
           claim="For as many pairs as a Memcached of 64 to 1024 MB can hold, kBF with all its parts "
                 "takes 30.33 % less memory.",
           setting="A Memcached that refuses pairs when it is full is filled until it does; then the "
                   "same pairs are stored elsewhere, and the memory that this takes is counted, "
                   "including the values. By default sizes end at 256 MB.",
           plots=[Plot("memory of Memcached, MB", "MB", "memory", "Memory for the same pairs",
                       log="xy"),
                  Plot("memory of Memcached, MB", "bytes per pair", "pair", "Memory per pair",
                       log="xy")],
           finding=memcached_memory,
           ours=("compact with an error of 0.001 (ours)",),
           servers=("Memcached", "Redis strings"),
           errata=("Less memory than Memcached (Figure 16).",)),
]
