#!/usr/bin/env python3
"""record.py BUILD [FIGURE…]

Measures figures at small scale with BUILD/bloomery-figures, all by default, and writes what the
tests expect of them, expected/FIGURE.csv. The tolerance is 5 standard deviations of the mean over
repetitions, and at least 5 %. A figure with a point that varies by more than 45 % is refused,
because the tests must notice a value that doubles: it needs more repetitions or more errors per
point. If there cannot be more, name the series in Plot(loose=...).

Look at the numbers before you commit them: they must agree with a formula or with the paper, not
only with themselves.
"""

import pathlib
import subprocess
import sys
import tempfile

from expected import check_panels, expect, key_of, read_expected, read_number, write_expected
from figure import Data
from papers import all_figures


def describe(name, rows):
    """Prints the values, and what they were before."""
    try:
        before = read_expected(name)
    except FileNotFoundError:
        before = {}
    print(f"{name}: {len(rows)} values")
    for x, y, tolerance, panel, series in rows:
        old = before.get(key_of(panel, series, read_number(x)))
        change = f"   (was {old[0]:g})" if old and f"{old[0]:.6g}" != y else ""
        print(f"  {x:>12} {y:>12} ± {tolerance:<8} {panel:<20} {series}{change}")


def record(figure, directory):
    data = Data(directory / f"{figure.name}.csv")
    problems = list(check_panels(figure, data))
    rows, wide = expect(figure, data)
    problems += wide
    if problems:
        return problems
    figure.finding(data)
    if rows:
        describe(figure.name, rows)
        write_expected(figure.name, rows)
    else:
        print(f"{figure.name}: all of it is timed, nothing is expected")
    return []


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    build, names = pathlib.Path(arguments[0]), arguments[1:]
    described = {figure.name: figure for figure in all_figures() if not figure.live}
    unknown = [name for name in names if name not in described]
    if unknown:
        sys.exit(f"record.py: report/*.py does not describe {', '.join(unknown)}")
    names = names or list(described)
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([build / "bloomery-figures", *names, "--scale", "small", "--output", directory],
                       check=True)
        problems = [problem for name in names
                    for problem in record(described[name], pathlib.Path(directory))]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
