"""The rows of doc/reproduction.md, which say for each figure whether it matches."""

import functools
import pathlib
import re

PATH = pathlib.Path(__file__).resolve().parents[3] / "doc" / "reproduction.md"


def numbers_of(text):
    """{"20", "21", "22"} of "Figures 20 to 22"."""
    text = re.sub(r"(\d+)(?: to |–)(\d+)", lambda match: " ".join(
        map(str, range(int(match.group(1)), int(match.group(2)) + 1))), text)
    return set(re.findall(r"\d+(?:\.\d+)?", text))


@functools.cache
def rows(paper):
    """[cells of a row] below the heading of a paper, such as "kBF"."""
    text = PATH.read_text(encoding="utf-8")
    section = re.search(rf"^## {paper}\b.*?(?=^## |\Z)", text, flags=re.S | re.M).group()
    table = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def check_row(paper, figure):
    """Every number of the figure has a row that says what we see and gives a verdict."""
    found = [row for row in rows(paper) if numbers_of(row[0]) & numbers_of(figure.numbers)]
    for number in sorted(numbers_of(figure.numbers) - set().union(*(numbers_of(row[0])
                                                                    for row in found))):
        yield f"{figure.name}: doc/reproduction.md has no row for {number}"
    for row in found:
        if not all(row[:5]):
            yield f"{figure.name}: the row {row[0]} of doc/reproduction.md is not complete"
