"""Figures that need real servers: scripts that measure them, in place of bloomery-figures.

A script writes the tables of its figures, NAME.csv with the columns x, repetition, y, panel and
series, into the directory it is given. The description of such a figure has live="…", the name of its
script here. The tests do not run these scripts. `make figures` does, and says so if it cannot.
"""

import dataclasses
import pathlib
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[3]


@dataclasses.dataclass(frozen=True)
class Live:
    name: str
    what: str  # is measured
    script: str  # relative to the root
    server: str  # which must be installed: SCRIPT SERVER MODULE DIRECTORY SCALE
    seconds: int  # about, at reduced scale


LIVE = [Live("once", "counters on a cluster with faults", "scripts/measure-once", "redis-server", 130)]


def why_skipped(live):
    """Why a part cannot be measured here, or an empty text."""
    return "" if shutil.which(live.server) else f"{live.server} is not installed"
