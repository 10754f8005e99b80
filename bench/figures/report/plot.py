"""Plots as SVG, drawn by gnuplot.

The colours are told apart by readers who are colour-blind, and so are marks and dashes. Those of
light mode are in the file; a style sheet replaces them in dark mode, by the value of the attribute.
"""

import re
import statistics
import subprocess

from axes import place_axis, value_axis, word_lines

# (light, dark); what is ours has colours of its own and thicker lines.
PAPER = [("#0072b2", "#56b4e9"), ("#00775a", "#3fd0a4"), ("#7a4fb5", "#c4a7ff"),
         ("#5b6570", "#a9b4c0"), ("#855700", "#e0b050"), ("#00808a", "#4fd6e0")]
OURS = [("#c8400a", "#ff8a4c"), ("#b3276e", "#ff7fbf"), ("#b01c1c", "#ff6b6b")]
INK, GRID = ("#1d2329", "#e4e9ee"), ("#d5dae0", "#3a424b")
DASHES = ["1", "(12,5)", "(4,4)", "(12,4,3,4)"]
MARKS = [4, 6, 8, 12, 10, 14]  # open; the number after each is the same, filled
SHAPES = ["M14,2h8v8h-8z", "M18,2a4,4 0 1 0 .1,0z", "M18,1l5,9h-10z", "M18,0l6,6l-6,6l-6,-6z",
          "M18,11l5,-9h-10z", "M18,1l5,4l-2,6h-6l-2,-6z"]  # of these marks, in legends
WIDTH, AREA = 500, 240  # of the picture; height of what is inside of the axes
ABOVE, BELOW, LINE = 14, 78, 26  # above; below, without the key; a line of the key
BAR = 22  # height of one
MANY = 25  # points in a series, which then has no marks


def dark_rules(prefix=""):
    """Rules that replace the colours of light mode."""
    return "\n".join(f'{prefix}[{name}="{light}"]{{{name}:{dark}}}'
                     for light, dark in [*PAPER, *OURS, INK, GRID]
                     for name in ("stroke", "fill", "color"))


def plain_colours(svg):
    """Writes every colour as #rrggbb: gnuplot has three ways, and rules compare the text."""
    svg = re.sub(r"rgb\( *(\d+), *(\d+), *(\d+)\)",
                 lambda match: "#" + "".join(f"{int(part):02x}" for part in match.groups()), svg)
    return re.sub(r"""(['"])black\1""", rf"\1{INK[0]}\1", svg)


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', "'") + '"'


def summary(values):
    return statistics.fmean(values), min(values), max(values)


class Drawing:
    """The commands for one plot, with a key or without."""

    def __init__(self, figure, plot, data, key=True):
        self.figure, self.plot, self.data, self.key = figure, plot, data, key
        self.names = data.series(plot.panel)
        self.points = {name: [(x, *summary(values)) for x, values in data.points(name, plot.panel)]
                       for name in self.names}
        self.xs = list(dict.fromkeys(x for rows in self.points.values() for x, *_ in rows))
        self.bars = plot.bars or any(isinstance(x, str) for x in self.xs)
        self.log_x = "x" in plot.log and not self.bars and min(self.xs) > 0
        self.log_y = "y" in plot.log
        self.styles = self.choose_styles()
        self.lines = []

    def choose_styles(self):
        """{series: (colour, whether it is ours, number among its kind)}, alike in all plots of a
        figure."""
        styles, counts = {}, {True: 0, False: 0}
        names = (name for plot in self.figure.plots for name in self.data.series(plot.panel))
        for name in dict.fromkeys(names):
            mine = name in self.figure.ours
            palette = OURS if mine else PAPER
            styles[name] = palette[counts[mine] % len(palette)][0], mine, counts[mine]
            counts[mine] += 1
        return styles

    def spread(self, name):
        return any(high > low for _, _, low, high in self.points[name])

    def has_zeros(self):
        """Whether there are values that a logarithmic axis cannot show."""
        return self.log_y and any(mean <= 0 for rows in self.points.values() for _, mean, *_ in rows)

    def value_axis(self, *more):
        """The axis of y. If there are zeros, its lowest tick stands for them."""
        values = [value for rows in self.points.values() for row in rows for value in row[1:]]
        low, high, ticks = value_axis([*values, *more], self.log_y)
        if self.has_zeros():
            low = low / (high / low) ** 0.12
            ticks = [(low, "0"), *ticks]
        return low, high, ticks

    def axis(self, which, low, high, ticks):
        self.lines.append(f"set {which}range [{low:.9g}:{high:.9g}]")
        marks = ", ".join(f"{quoted(label)} {at:.9g}" for at, label in ticks)
        self.lines.append(f"set {which}tics ({marks}) nomirror scale 0.5")

    def settings(self):
        longest = max(map(len, self.names))
        columns = min(1 if longest > 13 else 2, len(self.names))
        rows = -(-len(self.names) // columns)
        area = self.bars_height() if self.bars else AREA
        below = BELOW + (rows * LINE if self.key else 0)
        height = ABOVE + area + below
        x, y = (self.plot.y, self.plot.x) if self.bars else (self.plot.x, self.plot.y)
        self.lines += [
            f'set terminal svg size {WIDTH},{height} font "sans-serif,17" noenhanced',
            "set encoding utf8",
            f"set tmargin at screen {1 - ABOVE / height:.4f}",
            f"set bmargin at screen {below / height:.4f}",
            f'set border 3 lc rgb "{INK[0]}"',
            f'set grid lt 1 lw 1 lc rgb "{GRID[0]}"',
            f"set key bmargin center vertical maxrows {rows} Left reverse samplen 3" if self.key
            else "set key off",
            f"set xlabel {quoted(x)} offset 0,0.4", f"set ylabel {quoted(y)} offset 0.5,0",
        ]
        self.lines += [f"set logscale {'x' if self.bars else 'y'}"] if self.log_y else []
        self.lines += ["set logscale x"] if self.log_x else []

    def bars_height(self):
        return sum(max(len(self.names) * BAR + 14, len(word_lines(str(word))) * 22)
                   for word in self.xs)

    def block(self, name, rows):
        self.lines += [f"${name} << END", *(" ".join(f"{value:.9g}" for value in row)
                                            for row in rows), "END"]

    def shown_rows(self, name, bottom):
        """The points of a series; nothing is below a logarithmic axis."""
        if not self.log_y:
            return self.points[name]
        return [(x, *(max(value, bottom) for value in values)) for x, *values in self.points[name]]

    def draw_lines(self):
        self.axis("x", *place_axis(self.xs, self.log_x))
        low, high, ticks = self.value_axis()
        self.axis("y", low, high, ticks)
        bands, curves = [], []
        for number, name in enumerate(self.names):
            colour, mine, kind = self.styles[name]
            self.block(f"d{number}", self.shown_rows(name, low))
            if self.spread(name):
                bands.append(f'$d{number} using 1:3:4 with filledcurves fs transparent solid 0.18 '
                             f'noborder lc rgb "{colour}" notitle')
            mark = MARKS[kind % len(MARKS)] + (1 if mine else 0)
            line = f'dt {DASHES[kind % len(DASHES)]} lw {3.5 if mine else 2} lc rgb "{colour}"'
            with_marks = f"linespoints pt {mark} ps {0.8 if mine else 0.7}" \
                if len(self.points[name]) <= MANY else "lines"
            curves.append(f"$d{number} using 1:2 with {with_marks} {line} title {quoted(name)}")
        self.lines.append("plot " + ", \\\n  ".join(bands + curves))

    def draw_bars(self):
        """Groups of bars, one per word from top to bottom, with the range of the repetitions."""
        words, width = self.xs, len(self.names) + 0.8
        low, high, ticks = self.value_axis(0)
        low = low / 2 if self.log_y else low  # the shortest bar has a length too
        base = low if self.log_y else 0  # where bars begin
        self.axis("x", low, high, ticks)
        labels = ", ".join(f"{quoted(chr(10).join(word_lines(str(word))))} {i * width + (width - 1.8) / 2}"
                           for i, word in enumerate(words))
        self.lines += [f"set yrange [{len(words) * width - 0.8}:-1]",
                       "set ytics (" + labels.replace("\n", "\\n") + ") nomirror scale 0",
                       "set grid noytics"]
        curves = []
        for number, name in enumerate(self.names):
            colour, mine, _ = self.styles[name]
            rows = [(mean, words.index(x) * width + number, least, most, max(low, base))
                    for x, mean, least, most in self.shown_rows(name, low)]
            self.block(f"d{number}", rows)
            curves.append(f'$d{number} using 1:2:5:1:($2-0.42):($2+0.42) with boxxyerror lc rgb '
                          f'"{colour}" fs transparent solid {0.95 if mine else 0.55} noborder '
                          f'title {quoted(name)}')
            if self.spread(name):
                curves.append(f'$d{number} using 1:2:3:4 with xerrorbars pt 0 ps 0 lw 1.5 lc rgb '
                              f'"{INK[0]}" notitle')
        self.lines.append("plot " + ", \\\n  ".join(curves))

    def commands(self):
        self.settings()
        if self.bars:
            self.draw_bars()
        else:
            self.draw_lines()
        return "\n".join(self.lines) + "\n"


def swatch(drawing, name):
    """What a series looks like, beside its name in a legend."""
    colour, mine, kind = drawing.styles[name]
    shape = SHAPES[kind % len(SHAPES)] if len(drawing.points[name]) <= MANY else ""
    dashes = DASHES[kind % len(DASHES)].strip("()").removesuffix("1")
    parts = (f'<path d="M0,6h36" stroke="{colour}" stroke-width="{3 if mine else 1.7}" '
             f'stroke-dasharray="{dashes}"/>'
             f'<path d="{shape}" stroke="{colour}" fill="{colour if mine else "none"}"/>')
    if drawing.bars:
        parts = f'<path d="M4,1h28v10h-28z" fill="{colour}" fill-opacity="{0.95 if mine else 0.55}"/>'
    return f'<svg class="swatch" viewBox="0 0 36 12" aria-hidden="true">{parts}</svg>'


def legends(figure, data):
    """[(numbers of plots, [(swatch, name)])]. Plots share a legend if one of them has the series of
    all."""
    drawings = [Drawing(figure, plot, data) for plot in figure.plots]
    groups = {}
    for number, drawing in enumerate(drawings):
        widest = max((other for other in drawings if set(drawing.names) <= set(other.names)),
                     key=lambda other: len(other.names))
        groups.setdefault(drawings.index(widest), []).append(number)
    return [(numbers, [(swatch(drawings[widest], name), name) for name in drawings[widest].names])
            for widest, numbers in groups.items()]


def draw(figure, number, data, key=False):
    """(SVG element, whether its lowest tick stands for 0). Its ids are unique in a page."""
    drawing = Drawing(figure, figure.plots[number], data, key)
    run = subprocess.run(["gnuplot"], input=drawing.commands(), capture_output=True, text=True,
                         encoding="utf-8", check=False)
    if run.returncode != 0 or "<svg" not in run.stdout:
        raise RuntimeError(f"gnuplot cannot draw {figure.name}: {run.stderr.strip()}")
    svg = plain_colours(run.stdout[run.stdout.index("<svg"):])
    prefix = f"{figure.name}-{number}-".replace(".", "_")
    svg = re.sub(r"""(\bid=['"])""", rf"\1{prefix}", svg)
    svg = re.sub(r"""(href=['"]#|url\(#)""", rf"\1{prefix}", svg)
    svg = re.sub(r"<title>.*?</title>|<desc>.*?</desc>|<g [^>]*>\s*</g>\n?", "", svg, flags=re.S)
    return svg, drawing.has_zeros()


def standalone(svg):
    """A file of its own, which follows light and dark mode by itself."""
    style = ("<style>svg{background:#fff}@media (prefers-color-scheme:dark){svg{background:#14181c}"
             f"{dark_rules()}}}</style>")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + \
        re.sub(r"(<svg[^>]*>)", rf"\1{style}", svg, count=1)
