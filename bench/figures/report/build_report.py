#!/usr/bin/env python3
"""build_report.py BUILD [FIGURE…] [--scale S] [--output DIR] [--no-measure] [--no-browser]

Measures the figures of the papers with BUILD/bloomery-figures, and with servers (live.py); plots
them and writes DIR/report.html, by default build/figures/report.html; looks at the page in a
browser. With names, measures these only and takes the others as they are. `make figures` calls it.
"""

import argparse
import datetime
import html.parser
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

from browser import BrowserError, look_at
from live import LIVE, ROOT, why_skipped
from measuring import Task, measure
from page import page_html, read_result
from papers import all_figures
from progress import clock_text

DEFAULT_SECONDS = {"small": 1, "reduced": 15, "full": 600}
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Record:
    """What was measured at which scale and how long it took: run.json."""

    def __init__(self, directory):
        self.path = directory / "run.json"
        try:
            self.entries = json.loads(self.path.read_text())
        except (OSError, ValueError):
            self.entries = {}

    def seconds(self, name, scale, default):
        entry = self.entries.get(name, {})
        return entry.get("seconds", default) if entry.get("scale") == scale else default

    def is_from(self, name, scale):
        return self.entries.get(name, {}).get("scale") == scale

    def note(self, task, scale):
        if task.error:
            self.entries.pop(task.name, None)
        elif task.seconds:
            self.entries[task.name] = {"scale": scale, "seconds": round(task.seconds, 2)}

    def write(self):
        self.path.write_text(json.dumps(self.entries, indent=1) + "\n")


def plan_tasks(options, figures, record):
    """(tasks for several processors, tasks that run alone, {live part: why it is skipped})"""
    program = options.build / "bloomery-figures"
    shared, alone, skipped = [], [], {}
    chosen = [figure for figure in figures if not options.figures or figure.name in options.figures]
    default = DEFAULT_SECONDS[options.scale]
    for figure in chosen:
        if figure.live:
            continue
        task = Task(figure.name, [str(program), figure.name, "--scale", options.scale, "--output",
                                  str(options.output)],
                    record.seconds(figure.name, options.scale, default))
        (alone if any(plot.timed for plot in figure.plots) else shared).append(task)
    for live in LIVE:
        served = [figure.name for figure in chosen if figure.live == live.name]
        reason = why_skipped(live)
        if served and reason:
            skipped[live.name] = reason
            print(f"SKIPPED: {live.what} ({', '.join(served)}): {reason}", flush=True)
        elif served:
            module, output = str(options.build / "bloomery.so"), str(options.output)
            alone.append(Task(f"live-{live.name}",
                              [sys.executable, "-B", str(ROOT / live.script), live.server, module,
                               output, options.scale],
                              record.seconds(f"live-{live.name}", options.scale, live.seconds)))
    return shared, alone, skipped


def measure_all(options, figures, record):
    """Measures; {name of a figure or live part: why it failed or was skipped}."""
    shared, alone, skipped = plan_tasks(options, figures, record)
    tasks = [*shared, *alone]
    names = {task.name for task in tasks}
    for figure in figures:
        if figure.source in names:
            (options.output / f"{figure.name}.csv").unlink(missing_ok=True)
    print(f"{len(tasks)} measurements, scale {options.scale}", flush=True)
    try:
        measure(shared, alone, len(os.sched_getaffinity(0)))
    finally:
        for part in options.output.glob("*.part"):
            part.unlink()
        for task in tasks:
            record.note(task, options.scale)
        record.write()
    failed = {task.name.removeprefix("live-"): task.error.splitlines()[-1] for task in tasks
              if task.error}
    return {**skipped, **failed}, bool(failed)


def read_results(options, figures, record, reasons):
    results = []
    for figure in figures:
        reason = reasons.get(figure.live or figure.name, "")
        if not record.is_from(figure.source, options.scale):
            (options.output / f"{figure.name}.csv").unlink(missing_ok=True)
        results.append(read_result(figure, options.output, reason))
        if not results[-1].finding:
            print(f"NOT MEASURED: {figure.name}: {results[-1].reason}", flush=True)
    return results


def facts_of(options, record):
    def line(*command):
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        return run.stdout.strip()
    program = str(options.build / "bloomery-figures")
    seconds = sum(entry["seconds"] for entry in record.entries.values())
    machine = json.loads(line(program, "--machine"))["machine"]
    return [("Machine", f"{machine['cpu']}, {machine['cores']} cores, {machine['isa']}; "
             f"{machine['compiler']}, {machine['build']}"), ("Program", line(program, "--version")),
            ("Scale", {"small": "small, as in the tests", "reduced": "reduced; SCALE=full has the "
                       "sizes of the papers", "full": "full, the sizes of the papers"}[options.scale]),
            ("Measured in", f"{clock_text(seconds)} of all measurements together, on "
             f"{datetime.date.today().isoformat()}")]


class Tags(html.parser.HTMLParser):
    """Checks that elements are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.problems = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing, line {self.getpos()[0]}")


def check_tags(text):
    tags = Tags()
    tags.feed(text)
    tags.close()
    return tags.problems[:5] + [f"<{tag}> is not closed" for tag in tags.open[:5]]


def check_page(options, path, results):
    problems = check_tags(path.read_text(encoding="utf-8"))
    if not options.no_browser:
        names = {result.figure.name: len(result.plots) for result in results}
        try:
            problems += look_at(path, names, str(options.output / "report"))
        except BrowserError as error:
            problems.append(str(error))
    for problem in problems:
        print(f"report.html: {problem}", file=sys.stderr)
    return not problems


def read_options():
    parser = argparse.ArgumentParser(prog="build_report.py")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("figures", nargs="*")
    parser.add_argument("--scale", choices=list(DEFAULT_SECONDS), default="reduced")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build" / "figures")
    parser.add_argument("--no-measure", action="store_true", help="take the tables as they are")
    parser.add_argument("--no-browser", action="store_true")
    options = parser.parse_args()
    unknown = set(options.figures) - {figure.name for figure in all_figures()}
    if unknown:
        parser.error(f"there is no figure {', '.join(sorted(unknown))}")
    return options


def run(options):
    begin = time.monotonic()
    options.output.mkdir(parents=True, exist_ok=True)
    figures, record = all_figures(), Record(options.output)
    reasons, failed = {}, False
    if not options.no_measure:
        reasons, failed = measure_all(options, figures, record)
    print("plots", flush=True)
    results = read_results(options, figures, record, reasons)
    path = options.output / "report.html"
    part = path.with_suffix(".part")
    part.write_text(page_html(results, facts_of(options, record)), encoding="utf-8")
    part.replace(path)
    print("a look at the page" if not options.no_browser else "no look at the page", flush=True)
    fine = check_page(options, path, results)
    measured = sum(1 for result in results if result.finding)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{path}: {measured} of {len(results)} figures, {clock_text(time.monotonic() - begin)} "
          f"({clock_text(usage.ru_utime + usage.ru_stime)} of processor time)", flush=True)
    return 0 if fine and not failed else 1


def interrupt(number, frame):
    raise KeyboardInterrupt


def main():
    # SIGINT too: a shell that starts this in the background ignores it, and programs inherit that.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    try:
        return run(read_options())
    except KeyboardInterrupt:
        return 130
    except OSError as error:  # a directory that cannot be written, a full disk, no gnuplot
        sys.exit(f"build_report.py: {error}")


if __name__ == "__main__":
    sys.exit(main())
