"""What the figures must give at small scale: expected/NAME.csv, with x, y, tolerance, panel, series.

The mean over repetitions must be within tolerance * y of y; the tolerance is absolute where y is 0.
Times are not compared: panels of plots with timed=True have no expected values.
"""

import csv
import math
import pathlib
import statistics

from figure import write_table

DIR = pathlib.Path(__file__).resolve().parents[1] / "expected"
COLUMNS = ["x", "y", "tolerance", "panel", "series"]
SIGMAS = 5  # of the mean over repetitions
LEAST = 0.05  # tolerance, since another compiler or another hash gives other numbers
MOST = 0.45  # tolerance: a value that doubles or halves must be outside
ROUNDING = 1e-6  # of the printed numbers


def point_name(panel, series, x):
    x = x if isinstance(x, str) else f"{x:.9g}"
    return f"{panel + ': ' if panel else ''}{series} at {x}"


def key_of(panel, series, x):
    """Equal for an x that differs in its last digits only."""
    return panel, series, x if isinstance(x, str) else f"{x:.6g}"


def gated_panels(figure):
    return {plot.panel for plot in figure.plots if not plot.timed}


def gated_points(figure, data):
    """{key: (x, values of the repetitions)} of what is not a time."""
    return {key_of(panel, series, x): (x, values)
            for panel, series, x, values in data.all_points() if panel in gated_panels(figure)}


def is_loose(figure, key):
    return any(plot.panel == key[0] and key[1] in plot.loose for plot in figure.plots)


def read_number(text):
    try:
        return float(text)
    except ValueError:
        return text


def read_expected(name, directory=DIR):
    """{key: (y, tolerance)}; FileNotFoundError if the figure has none."""
    with open(directory / f"{name}.csv", newline="", encoding="utf-8") as file:
        return {key_of(row["panel"], row["series"], read_number(row["x"])):
                (float(row["y"]), float(row["tolerance"])) for row in csv.DictReader(file)}


def is_within(mean, y, tolerance):
    bound = tolerance * (abs(y) if y != 0 else 1)
    return abs(mean - y) <= bound + ROUNDING * abs(y)


def compare(figure, data, expected):
    """Yields a line for each value that is not as expected."""
    points = gated_points(figure, data)
    for key, (y, tolerance) in expected.items():
        if key not in points:
            yield f"{figure.name}, {point_name(*key)}: is expected, but was not measured"
            continue
        mean = statistics.fmean(points[key][1])
        if not is_within(mean, y, tolerance):
            bound = f"{100 * tolerance:.3g} %" if y != 0 else f"{tolerance:g}"
            yield (f"{figure.name}, {point_name(*key)}: {mean:.6g}, where {y:.6g} ± {bound} is "
                   "expected")
    for key in points:
        if key not in expected:
            yield f"{figure.name}, {point_name(*key)}: has no expected value"


def check_panels(figure, data):
    """The panels of the table are those of the plots, and their values are numbers."""
    plotted = {plot.panel for plot in figure.plots}
    for panel in sorted(set(data.panels) - plotted):
        yield f"{figure.name}: no plot shows the panel {panel!r}"
    for panel in sorted(plotted - set(data.panels)):
        yield f"{figure.name}: the table has no panel {panel!r}"
    known = {series for panel in data.panels for series in data.series(panel)}
    for series in sorted(set(figure.ours) - known - set(figure.servers)):
        yield f"{figure.name}: ours names {series!r}, which no panel has"
    for panel, series, x, values in data.all_points():
        if not all(map(math.isfinite, values)):
            yield f"{figure.name}, {point_name(panel, series, x)}: is not a finite number"


def scale_of(y, is_share):
    """What a tolerance refers to. A share of 0.99 is an error rate of 0.01, and that must not
    double unseen."""
    return min(abs(y), 1 - y) if is_share and 0.5 < y <= 1 else abs(y)


def tolerance_of(values, is_share):
    """(tolerance relative to the mean, the same relative to what must not double)"""
    mean = statistics.fmean(values)
    spread = SIGMAS * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0
    scale = scale_of(mean, is_share)
    bound = max(spread, LEAST * scale)
    return bound / abs(mean), bound / scale if scale > ROUNDING else 0


def is_share(means):
    return all(0 <= mean <= 1 for mean in means)


def expect(figure, data):
    """(rows of the file, problems): what a run gave, with a tolerance from its spread."""
    points = gated_points(figure, data)
    means = {key: statistics.fmean(values) for key, (_, values) in points.items()}
    rows, problems = [], []
    for key, (x, values) in points.items():
        panel, series, _ = key
        mean = means[key]
        peers = [means[other] for other in means if other[:2] == key[:2] and means[other] != 0]
        if mean == 0:  # as little as the least of the series may well be 0 with other seeds
            tolerance = min(map(abs, peers), default=0)
        else:
            shares = is_share(mean for other, mean in means.items() if other[0] == panel)
            tolerance, width = tolerance_of(values, shares)
            if width > MOST and not is_loose(figure, key):
                problems.append(f"{figure.name}, {point_name(*key)}: {mean:.3g} varies too much "
                                f"between repetitions (± {100 * width:.0f} %, at most "
                                f"{100 * MOST:.0f} %): it needs more repetitions or more errors")
        rows.append([x if isinstance(x, str) else f"{x:.9g}", f"{mean:.6g}", f"{tolerance:.3g}",
                     panel, series])
    return rows, problems


def write_expected(name, rows, directory=DIR):
    directory.mkdir(exist_ok=True)
    write_table(directory / f"{name}.csv", COLUMNS, rows)
