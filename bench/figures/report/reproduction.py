#!/usr/bin/env python3
"""reproduction.py [DIRECTORY]

Writes doc/reproduction.md from the descriptions of the figures and the tables in measured/, so that
it says what the page says. With DIRECTORY, such as build/figures, first takes the tables from there
that were measured at reduced scale. The tests compare the document with what this would write.
"""

import csv
import pathlib
import statistics
import sys
import textwrap

from figure import Data
from page import Result, badges
from papers import PAPERS, all_figures

ROOT = pathlib.Path(__file__).resolve().parents[3]
PATH, TABLES = ROOT / "doc" / "reproduction.md", ROOT / "bench" / "figures" / "measured"
COMMAND = "python3 -B bench/figures/report/reproduction.py"
MOST_REPETITIONS = 5  # of more, the mean is kept
INTRODUCTION = """\
# Reproduction: what matches the papers, and what does not

`make figures` measures every figure of the papers that carries a result again, with the library and with the structures as
published (`papers/`), and writes `build/figures/report.html`: plots, data and findings on one page. This page has the same
findings without the plots. The numbers are those of the default scale; `make figures SCALE=full` uses the sizes of the
papers.

**Matches** means that our implementation of the published structure gives what the paper reports: the same curve, and its
numbers where it has numbers. **Differs** means that it does not, whatever the cause; the finding says why, and
[errata.md](errata.md) explains it where the paper does not hold. **Ours goes past** means that our engine has better numbers
in this setting than the published structure.

The error rates and sizes of each figure are also compared with `bench/figures/expected/` in the tests, at small scale.
This page is generated; [CONTRIBUTING.md](../CONTRIBUTING.md) says how.
"""


def figure_text(figure):
    finding = figure.finding(Data(TABLES / f"{figure.name}-reduced.csv"))
    words = [text for _, text in badges(Result(figure, finding))]
    rows = (("The paper", figure.claim), ("Setting", figure.setting),
            (f"We see ({words[0]})", finding.text), ("Ours", finding.beyond))
    parts = [textwrap.fill(f"*{term}:* {text}", 124, break_long_words=False, break_on_hyphens=False)
             for term, text in rows if text]
    return words, "\n\n".join([f"### {figure.numbers}: {figure.title}", *parts]) + "\n"


def paper_text(paper):
    texts = [figure_text(figure) for figure in paper.figures]
    rows = [f"| {figure.numbers} | {figure.title} | {', '.join(words)} |"
            for figure, (words, _) in zip(paper.figures, texts)]
    return "\n".join([f"## {paper.short}: {paper.job}\n", "| figure | subject | verdict |",
                      "|---|---|---|", *rows, "", *(text for _, text in texts)])


def document():
    return "\n".join([INTRODUCTION, *map(paper_text, PAPERS)])


def check_document(paper):
    """What the document says about a paper is what would be written now."""
    missing = [figure.name for figure in paper.figures
               if not (TABLES / f"{figure.name}-reduced.csv").exists()]
    if missing:
        yield f"{', '.join(missing)}: no table in bench/figures/measured: {COMMAND} build/figures"
    elif paper_text(paper) not in PATH.read_text(encoding="utf-8"):
        yield f"doc/reproduction.md does not say what the report says about {paper.short}: {COMMAND}"


def take_tables(directory):
    from build_report import Record
    record = Record(directory)
    TABLES.mkdir(exist_ok=True)
    for figure in all_figures():
        source = f"live-{figure.live}" if figure.live else figure.name
        if not record.is_from(source, "reduced"):
            print(f"{figure.name}: not measured at reduced scale, stays as it is")
            continue
        data = Data(directory / f"{figure.name}.csv")
        with open(TABLES / f"{figure.name}-reduced.csv", "w", newline="", encoding="utf-8") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["x", "repetition", "y", "panel", "series"])
            for panel in data.panels:
                for series in data.series(panel):
                    for x, values in data.points(series, panel):
                        few = values if len(values) <= MOST_REPETITIONS else [statistics.fmean(values)]
                        table.writerows([x if isinstance(x, str) else f"{x:.9g}", i, f"{y:.6g}",
                                         panel, series] for i, y in enumerate(few))


def main(arguments):
    if arguments:
        take_tables(pathlib.Path(arguments[0]))
    PATH.write_text(document(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
