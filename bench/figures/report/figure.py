"""What the report says about a figure, and the table behind it.

kbf.py, fbf.py and dba.py list the figures of each paper as Figure objects, in FIGURES. A table is
the file NAME.csv that bloomery-figures writes: x, repetition, y, panel, series.
"""

import csv
import dataclasses
import statistics
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class Finding:
    """What was measured, in a sentence or two with the numbers, and whether the paper holds. If it
    does not, the text says so and the caption is marked."""
    text: str
    agrees: bool | None  # None: what it is compared with is not there
    beyond: str = ""  # a sentence with numbers: what ours gives in the same setting
    past: bool = False  # whether these numbers are better than those of the paper's structure


@dataclasses.dataclass(frozen=True)
class Plot:
    x: str  # the label of the axis
    y: str
    panel: str = ""  # of the table
    title: str = ""  # where a figure has several plots
    log: str = ""  # "x", "y" or "xy"
    bars: bool = False  # x is a word
    timed: bool = False  # y is a time or a speed: shown, never compared with what is expected
    loose: tuple[str, ...] = ()  # series with too few errors at small scale for a tight tolerance


@dataclasses.dataclass(frozen=True)
class Figure:
    name: str  # of the table: "kbf-05"
    numbers: str  # as in the paper: "Figure 5"
    title: str
    claim: str  # what the paper says, in our words
    plots: list[Plot]
    finding: Callable[["Data"], Finding]
    setting: str = ""  # sizes and workload of our measurement, and how they differ from the paper's
    ours: tuple[str, ...] = ()  # series that are ours rather than the paper's: drawn apart
    servers: tuple[str, ...] = ()  # series that need servers, which the tests do not start
    errata: tuple[str, ...] = ()  # the bold beginnings of paragraphs of doc/errata.md: "Codes."
    live: str = ""  # measured on real servers by this part of live.py, not by bloomery-figures

    @property
    def source(self):
        """Its name in the record of what was measured."""
        return f"live-{self.live}" if self.live else self.name


def write_table(path, columns, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])


class Data:
    """A table: for each panel and series, the values of all repetitions at each x."""

    def __init__(self, path):
        self.panels = {}
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                try:
                    x = float(row["x"])
                except ValueError:
                    x = row["x"]
                series = self.panels.setdefault(row["panel"], {}).setdefault(row["series"], {})
                series.setdefault(x, []).append(float(row["y"]))

    def series(self, panel=""):
        """The names of the series of a panel, in the order of the table."""
        return list(self.panels[panel])

    def points(self, series, panel=""):
        """[(x, [y of each repetition])], in the order of the table."""
        return list(self.panels[panel][series].items())

    def all_points(self):
        """[(panel, series, x, [y of each repetition])]"""
        return [(panel, series, x, ys) for panel in self.panels for series in self.panels[panel]
                for x, ys in self.points(series, panel)]

    def values(self, series, x, panel=""):
        """What all repetitions gave at x; KeyError if there is no such point."""
        return self.panels[panel][series][x]

    def mean(self, series, x, panel=""):
        return statistics.fmean(self.values(series, x, panel))

    def last(self, series, panel=""):
        """The mean at the last x."""
        return statistics.fmean(self.points(series, panel)[-1][1])
