"""One page with all figures: text, plots and data, without anything from elsewhere."""

import dataclasses
import functools
import html
import pathlib
import re
import urllib.parse

import plot
from figure import Data, Figure, Finding
from markdown import inline, section, to_html
from papers import PAPERS

STYLE = pathlib.Path(__file__).with_name("report.css")
ROOT = pathlib.Path(__file__).resolve().parents[3]


@functools.cache
def errata():
    """{bold beginning: paragraph, on one line} of doc/errata.md"""
    text = (ROOT / "doc" / "errata.md").read_text(encoding="utf-8")
    lines = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    return {line[2:].partition("**")[0]: line for line in lines if line.startswith("**")}


@dataclasses.dataclass(frozen=True)
class Result:
    """A figure as measured; without a finding, why not."""
    figure: Figure
    finding: Finding | None = None
    plots: tuple[str, ...] = ()  # SVG
    legends: tuple = ()  # see plot.legends()
    notes: tuple[str, ...] = ()  # one per plot, or ""
    table: str = ""
    reason: str = ""


def read_result(figure, directory, reason=""):
    """Reads the table of a figure, computes its finding and draws it; the plots are also written as
    files."""
    path = directory / f"{figure.name}.csv"
    if not path.exists():
        return Result(figure, reason=reason or "it has not been measured")
    data = Data(path)
    drawn = [plot.draw(figure, number, data) for number in range(len(figure.plots))]
    for number in range(len(drawn)):
        svg, _ = plot.draw(figure, number, data, key=True)
        name = figure.name + (f"-{number + 1}" if len(drawn) > 1 else "")
        (directory / f"{name}.svg").write_text(plot.standalone(svg), encoding="utf-8")
    notes = tuple("The lowest tick of this logarithmic axis stands for 0." if zeros else ""
                  for _, zeros in drawn)
    return Result(figure, figure.finding(data), tuple(svg for svg, _ in drawn),
                  tuple(plot.legends(figure, data)), notes, path.read_text(encoding="utf-8"))


def badges(result):
    """[(class, text)]: whether the paper holds, and whether ours goes past it."""
    if not result.finding or result.finding.agrees is None:
        return [("none", "not measured")]
    holds = ("matches", "matches") if result.finding.agrees else ("differs", "differs")
    return [holds] + ([("past", "ours goes past")] if result.finding.past else [])


def badges_html(result):
    return " ".join(f'<span class="badge {kind}">{text}</span>' for kind, text in badges(result))


def data_link(result):
    source = "data:text/csv;charset=utf-8," + urllib.parse.quote(result.table)
    name = f"{result.figure.name}.csv"
    return f'<a href="{source}" download="{name}">Data: {name}</a>'


def legend_html(names, place):
    items = "".join(f"<li>{swatch}{html.escape(name)}</li>" for swatch, name in names)
    return f'<ul class="legend {place}">{items}</ul>'


def plot_html(result, number, legend=""):
    figure, what = result.figure, result.figure.plots[number]
    label = html.escape(f"{figure.title}{': ' + what.title if what.title else ''}. "
                        f"{what.y} against {what.x}. The text above says what it shows.")
    svg = re.sub(r"<svg\s", f'<svg role="img" aria-label="{label}" class="plot" ',
                 result.plots[number], count=1)
    caption = f"<figcaption>{html.escape(what.title)}</figcaption>" if what.title else ""
    note = f'<p class="note">{html.escape(result.notes[number])}</p>' if result.notes[number] else ""
    return f'<figure id="{figure.name}-plot-{number + 1}">{caption}{svg}{legend}{note}</figure>'


def plots_html(result):
    """In two columns: a legend above an even number of plots, or beside an odd number. Two plots that
    share no legend have theirs below."""
    alone = [group for group in result.legends if len(group[0]) == 1]
    paired = alone[:len(alone) // 2 * 2]
    rows = ["".join(plot_html(result, number, legend_html(names, "below"))
                    for (number,), names in paired)]
    rows += [legend_html(names, "beside" if len(numbers) % 2 else "above") +
             "".join(plot_html(result, number) for number in numbers)
             for numbers, names in result.legends if (numbers, names) not in paired]
    return "".join(f'<div class="plots">{row}</div>' for row in rows if row)


def entry(term, text):
    return f"<dt>{term}</dt><dd>{html.escape(text)}</dd>" if text else ""


def figure_html(result):
    figure, finding = result.figure, result.finding
    parts = [f'<details class="figure"><summary><h3>{html.escape(figure.numbers)}: '
             f"{html.escape(figure.title)} {badges_html(result)}</h3></summary>",
             f'<div class="body" id="{figure.name}"><dl>',
             entry("The paper", figure.claim), entry("Setting", figure.setting)]
    if finding:
        parts += [entry("We see", finding.text), entry("Ours", finding.beyond), "</dl>",
                  plots_html(result)]
    else:
        parts += [entry("Status", f"Not measured: {result.reason}."), "</dl>"]
    parts += [f"<details><summary>Erratum: {inline(title.rstrip('.'))}</summary>"
              f"<p>{inline(errata()[title])}</p></details>" for title in figure.errata]
    if result.table:
        parts.append(f'<p class="links">{data_link(result)}</p>')
    parts.append("</div></details>")
    return "\n".join(part for part in parts if part)


def contents_html(results):
    items = "".join(f'<li><a href="#{result.figure.name}">{html.escape(result.figure.numbers)}: '
                    f"{html.escape(result.figure.title)}</a> {badges_html(result)}</li>"
                    for result in results)
    return f"<ul>{items}</ul>"


def paper_html(paper, results):
    found = [result for result in results if result.figure in paper.figures]
    if not found:
        return "", ""
    name = html.escape(paper.short)
    contents = f'<h3><a href="#{name}">{name}</a></h3>\n' + contents_html(found)
    body = (f'<h2 id="{name}">{name}: {html.escape(paper.job)}</h2>\n<p class="source"><cite>'
            f"{html.escape(paper.title)}</cite>, {html.escape(paper.where)}.</p>\n" +
            "\n".join(map(figure_html, found)))
    return contents, body


def counts_html(results):
    kinds = [kind for result in results for kind, _ in badges(result)]
    texts = [("matches", "match"), ("differs", "differ"), ("past", "ours goes past"),
             ("none", "not measured")]
    items = "".join(f'<li class="{kind}"><b>{kinds.count(kind)}</b> {text}</li>'
                    for kind, text in texts if kind in kinds)
    return f'<ul class="counts">{items}</ul>'


def peers_html():
    """The comparison with other programs, as `make bench` has written it."""
    short = section((ROOT / "README.md").read_text(encoding="utf-8"), "Results")
    text = (ROOT / "doc" / "benchmarks.md").read_text(encoding="utf-8").split("\n", 1)[1]
    return ('<h2 id="peers">Beside what is used today</h2>\n' + to_html(short, 3) +
            "<details><summary>All tables, and how they were measured</summary>\n" +
            to_html(text, 2) + "</details>")


def page_html(results, facts):
    """The page; facts are [(term, text)] about the run."""
    parts = [paper_html(paper, results) for paper in PAPERS]
    facts = "".join(f"<dt>{html.escape(term)}</dt><dd>{html.escape(text)}</dd>" for term, text in facts)
    style = STYLE.read_text(encoding="utf-8") + \
        f"@media (prefers-color-scheme: dark) {{\n{plot.dark_rules('svg ')}\n}}\n"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Bloomery: the figures of the papers</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1>Bloomery: the figures of the papers, measured again</h1>
<p>Bloomery builds on three lines of work on Bloom filters. This page shows each figure of these papers that carries a
result: what the paper says, what we measured with the published structure, and what our own engines give in the same
setting.</p>
<p>Thick orange and red lines are ours. Bands and error bars show the range over repetitions with different seeds; lines
show the mean. A figure <span class="badge matches">matches</span> if the published structure gives what the paper
reports, and <span class="badge differs">differs</span> if it does not, whatever the cause; then the text says why.
<span class="badge past">ours goes past</span> means that our engine has better numbers in this setting than the
published structure.</p>
{counts_html(results)}
</header>
<nav aria-label="Figures">
<h2>Contents</h2>
{"".join(contents for contents, _ in parts)}
<h3><a href="#peers">Other programs</a></h3>
</nav>
<main>
{"".join(body for _, body in parts)}
{peers_html()}
</main>
<footer>
<dl>{facts}</dl>
<p>Written by <code>make figures</code>. The findings of an earlier run are in <code>doc/reproduction.md</code>,
and all departures from the papers in <code>doc/errata.md</code>
(<a href="../../doc/reproduction.md">reproduction</a>, <a href="../../doc/errata.md">errata</a>).</p>
</footer>
</body>
</html>
"""
