"""figures_test.py BLOOMERY_FIGURES PAPER: the figures of a paper at small scale.

Each table is as expected (bench/figures/expected/), each figure is described (bench/figures/report/),
its finding can be computed, and the expected values are tight enough to notice a value that doubles.
Prints a line for each problem. Under a sanitizer, BLOOMERY_SANITIZED, each figure is measured once
and its values are not compared, because they are those of the plain build.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

SANITIZED = "BLOOMERY_SANITIZED" in os.environ
REPORT = pathlib.Path(__file__).resolve().parents[2] / "bench" / "figures" / "report"
sys.path.insert(0, str(REPORT))

from expected import (DIR, check_panels, compare, gated_panels, is_loose,  # noqa: E402
                      is_within, read_expected)
from figure import Data, Finding  # noqa: E402
from live import LIVE  # noqa: E402
from page import errata  # noqa: E402
from papers import PAPERS  # noqa: E402
from reproduction import check_document  # noqa: E402


def check_lists(listed, figures, paper):
    """bloomery-figures and the report have the same figures; live ones are in the report alone."""
    described = [figure.name for figure in figures]
    for name in sorted({name for name in described if described.count(name) > 1}):
        yield f"{name} is described twice"
    measured = [figure.name for figure in figures if not figure.live]
    for name in sorted(set(listed) - set(measured)):
        yield f"{name}: bloomery-figures measures it, report/{paper}.py does not describe it"
    for name in sorted(set(measured) - set(listed)):
        yield f"{name}: report/{paper}.py describes it, bloomery-figures does not measure it"
    for name in sorted({path.stem for path in DIR.glob(f"{paper}*.csv")} - set(measured)):
        yield f"{name}: expected/{name}.csv belongs to no figure"


def check_tight(figure, expected):
    """A value that doubles or halves is refused."""
    for key, (y, tolerance) in expected.items():
        if y != 0 and not is_loose(figure, key) and \
                (is_within(2 * y, y, tolerance) or is_within(y / 2, y, tolerance)):
            yield f"{figure.name}, {key}: a tolerance of {tolerance} would not notice 2 × {y}"


def check_engines(figure, expected):
    """Every engine has, in each panel where it does not nearly vanish, a value whose double is
    refused, so that loose values are not all that there is."""
    engines = {}
    for (panel, series, _), (y, tolerance) in expected.items():
        if y >= 1e-4:
            blind = is_within(2 * y, y, tolerance) or is_within(y / 2, y, tolerance)
            engines.setdefault((panel, series.split(" p=")[0]), []).append(blind)
    for (panel, engine), blind in engines.items():
        if all(blind):
            yield f"{figure.name}, {panel}: {engine}: no value would notice that it doubles"


def check_finding(figure, data):
    try:
        finding = figure.finding(data)
    except Exception as error:  # whatever a description does wrong is its problem, not a crash
        yield f"{figure.name}: the finding fails: {error!r}"
        return
    if not isinstance(finding, Finding) or not finding.text.strip():
        yield f"{figure.name}: the finding is empty"


def check_texts(figure):
    if not figure.claim.strip() or not figure.title.strip():
        yield f"{figure.name}: has no claim or no title"
    if figure.live and figure.live not in {live.name for live in LIVE}:
        yield f"{figure.name}: live.py has no part {figure.live!r}"
    for title in figure.errata:
        if title not in errata():
            yield f"{figure.name}: no paragraph of doc/errata.md begins with {title!r}"


def check_figure(figure, path):
    yield from check_texts(figure)
    if not path.exists():
        yield f"{figure.name}: there is no table"
        return
    data = Data(path)
    problems = list(check_panels(figure, data))
    yield from problems
    if not problems:
        yield from check_finding(figure, data)
    try:
        expected = read_expected(figure.name)
    except FileNotFoundError:
        if gated_panels(figure):
            yield (f"{figure.name}: there is no expected/{figure.name}.csv "
                   "(bench/figures/report/record.py writes it)")
        return
    if not SANITIZED:
        yield from compare(figure, data, expected)
    yield from check_tight(figure, expected)
    yield from check_engines(figure, expected)


def check_paper(program, paper):
    listing = subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout
    listed = [line.split()[0] for line in listing.splitlines() if line.startswith(paper)]
    described = next(one for one in PAPERS if one.short.lower() == paper)
    figures = described.figures
    yield from check_lists(listed, figures, paper)
    yield from check_document(described)
    with tempfile.TemporaryDirectory() as directory:
        if listed:
            subprocess.run([program, *listed, "--scale", "small", "--output", directory,
                            *(["--repetitions", "1"] if SANITIZED else [])], check=True)
        for figure in figures:
            if figure.live:
                yield from check_texts(figure)
            elif figure.name in listed:
                yield from check_figure(figure, pathlib.Path(directory) / f"{figure.name}.csv")


def main(program, paper):
    problems = list(check_paper(program, paper))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
