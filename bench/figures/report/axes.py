"""Axes of plots: ranges, and ticks with labels that people read."""

import math
import textwrap

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SUFFIXES = [(1e9, "G"), (1e6, "M"), (1e3, "k")]


def number(value):
    """Two digits, and a power of ten if that is shorter."""
    if value == 0 or 0.001 <= value < 10000:
        return f"{value:.2g}"
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}·10" + str(int(power)).translate(SUPERSCRIPT)


def listed(words):
    """"a, b and c"."""
    words = list(words)
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def plain_label(value):
    """1500 as 1500, 20000 as 20k."""
    if abs(value) >= 1e4:
        for size, suffix in SUFFIXES:
            if abs(value) >= size:
                return f"{value / size:.4g}{suffix}"
    return f"{value:.4g}" if value == int(value) else f"{value:.3g}"


def power_label(value):
    exponent = math.floor(math.log10(value) + 1e-9)
    digits = value / 10**exponent
    power = "10" + str(exponent).translate(SUPERSCRIPT)
    return power if abs(digits - 1) < 1e-6 else f"{digits:.3g}·{power}"


def log_ticks(marks):
    """All as numbers or all as powers."""
    label = power_label if min(marks) < 0.01 or max(marks) >= 1e9 else plain_label
    return [(mark, label(mark)) for mark in marks]


def linear_axis(low, high, most=6):
    """(low, high, ticks) with round numbers; from 0 if that is near."""
    if low > 0 and low < 0.5 * high:
        low = 0
    if high <= low:
        low, high = low - (abs(low) or 1) * 0.5, high + (abs(high) or 1) * 0.5
    rough = (high - low) / most
    size = 10 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [i * step for i in range(first, last + 1)]
    return ticks[0], ticks[-1], [(tick, plain_label(tick)) for tick in ticks]


def log_axis(low, high):
    """(low, high, ticks): decades, and 2 and 5 between them if there are few."""
    if high / low < 1.5:
        low, high = low / 1.5, high * 1.5
    decades = math.log10(high / low)
    digits = [1] if decades > 2.5 else [1, 3] if decades > 1.6 else [1, 2, 5]
    exponents = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    marks = [digit * 10.0**exponent for exponent in exponents for digit in digits]
    bottom = max(mark for mark in marks if mark <= low * 1.001)
    top = min(mark for mark in marks if mark >= high * 0.999)
    marks = [mark for mark in marks if bottom * 0.999 <= mark <= top * 1.001]
    while len(marks) > 8:
        marks = marks[::2]
    return bottom, top, log_ticks(marks)


def value_axis(values, log):
    """An axis for these values; on a logarithmic one only those above 0 count."""
    if log:
        values = [value for value in values if value > 0] or [0.1, 1]
        return log_axis(min(values), max(values))
    return linear_axis(min(values), max(values))


def place_axis(xs, log):
    """The axis of x, as long as its values. They are its ticks if they are few and far enough
    apart."""
    xs = sorted(set(xs))
    places = [math.log(x) if log else x for x in xs]
    span = places[-1] - places[0]
    if span == 0:
        return value_axis(xs, log)
    ends = [places[0] - 0.03 * span, places[-1] + 0.03 * span]
    low, high = map(math.exp, ends) if log else ends
    gaps = [after - before for before, after in zip(places, places[1:])]
    ticks = log_ticks(xs) if log else [(x, plain_label(x)) for x in xs]
    if len(xs) <= 8 and min(gaps) >= 0.03 * span * max(len(text) for _, text in ticks):
        return low, high, ticks
    _, _, round_ticks = value_axis([xs[0], xs[-1]], log)
    inside = [(at, text) for at, text in round_ticks if low <= at <= high]
    return low, high, inside if len(inside) > 1 else [ticks[0], ticks[-1]]


def word_lines(word, width=18):
    """A word beside a group of bars, on several lines if it is long."""
    return textwrap.wrap(word, width) or [""]
