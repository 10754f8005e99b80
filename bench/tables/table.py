"""A table as data, and how its cells are written. It becomes Markdown here, and HTML elsewhere."""

import dataclasses
import math
import textwrap


@dataclasses.dataclass
class Table:
    name: str  # a word, for links and programs
    title: str
    columns: list[str]
    rows: list[list[str]]  # cells in Markdown
    note: str = ""  # sizes and conditions, in sentences
    left: tuple[int, ...] = (0,)  # columns of words; numbers are aligned right

    def __post_init__(self):
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.name}: {row} does not have {len(self.columns)} cells")

    def markdown(self):
        rule = "|".join("---" if at in self.left else "---:" for at in range(len(self.columns)))
        head, *body = ("| " + " | ".join(cells) + " |" for cells in (self.columns, *self.rows))
        return "\n".join([head, f"|{rule}|", *body]) + (f"\n\n{wrapped(self.note)}" if self.note else "")


def wrapped(text):
    """As the pages are written by hand."""
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def number(value, digits=3):
    """With this many significant digits and no exponent: 0.0053, 17.8, 1664, 1,234,567."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{places}f}" if abs(value) >= 10_000 else f"{value:.{places}f}"


def share(value, digits=3):
    """A probability, as a percentage or as a power of ten."""
    if value is None or value == 0:
        return "–" if value is None else "0"
    if 0 < value < 1e-5:
        exponent = math.floor(math.log10(value) + 1e-9)
        factor = value / 10 ** exponent
        power = "10" + "".join("⁻" if sign == "-" else "⁰¹²³⁴⁵⁶⁷⁸⁹"[int(sign)]
                               for sign in str(exponent))
        return power if abs(factor - 1) < 0.005 else f"{factor:.1f}·{power}"
    text = number(100 * value, digits)
    return (text.rstrip("0").rstrip(".") if "." in text else text) + " %"


def count(value):
    """10 million, 2 million, 62,501."""
    return f"{value // 1_000_000} million" if value and value % 1_000_000 == 0 else f"{value:,}"


def megabytes(value):
    return f"{value / 1e6:.1f}"
