#!/usr/bin/env python3
"""reproduction.py [DIRECTORY]

Writes doc/reproduction.md, below its introduction, from the descriptions of the figures and the
tables in measured/. With DIRECTORY, such as build/figures, first takes the tables from there that
were measured at reduced scale. The tests compare the document with what this would write.
"""

import pathlib
import sys
import textwrap
from statistics import fmean

from figure import Data, write_table
from page import ROOT, Result, badges
from papers import PAPERS, all_figures

PATH, TABLES = ROOT / "doc" / "reproduction.md", ROOT / "bench" / "figures" / "measured"
COMMAND = "python3 -B bench/figures/report/reproduction.py"
MOST_REPETITIONS = 5  # of more, the mean is kept


def table_of(figure):
    return TABLES / f"{figure.name}-reduced.csv"


def figure_text(figure):
    """(row of the table, section)"""
    finding = figure.finding(Data(table_of(figure)))
    verdict, *past = [text for _, text in badges(Result(figure, finding))]
    parts = [("The paper", figure.claim), ("Setting", figure.setting),
             (f"We see ({verdict})", finding.text), ("Ours", finding.beyond)]
    lines = [textwrap.fill(f"*{term}:* {text}", 124, break_long_words=False, break_on_hyphens=False)
             for term, text in parts if text]
    return (f"| {figure.numbers} | {figure.title} | {', '.join([verdict, *past])} |",
            "\n\n".join([f"### {figure.numbers}: {figure.title}", *lines]) + "\n")


def paper_text(paper):
    rows, sections = zip(*map(figure_text, paper.figures))
    return "\n".join([f"## {paper.short}: {paper.job}\n", "| figure | subject | verdict |",
                      "|---|---|---|", *rows, "", *sections])


def check_document(paper):
    """What the document says about a paper is what would be written now."""
    try:
        if paper_text(paper) not in PATH.read_text(encoding="utf-8"):
            yield f"doc/reproduction.md is not what the report says about {paper.short}: {COMMAND}"
    except FileNotFoundError as error:
        yield f"there is no {error.filename}: {COMMAND} build/figures"


def take_tables(directory):
    from build_report import Record
    record = Record(directory)
    for figure in all_figures():
        if not record.is_from(figure.source, "reduced"):
            print(f"{figure.name}: not measured at reduced scale, stays as it is")
            continue
        points = Data(directory / f"{figure.name}.csv").all_points()
        write_table(table_of(figure), ["x", "repetition", "y", "panel", "series"],
                    [[x, i, f"{y:.6g}", panel, series] for panel, series, x, ys in points
                     for i, y in enumerate(ys if len(ys) <= MOST_REPETITIONS else [fmean(ys)])])


def main(arguments):
    if arguments:
        take_tables(pathlib.Path(arguments[0]))
    introduction = PATH.read_text(encoding="utf-8").partition("\n## ")[0]
    PATH.write_text("\n".join([introduction, *map(paper_text, PAPERS)]), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
