"""Figures that need real servers: scripts that measure them, in place of bloomery-figures.

A script writes the tables of its figures, NAME.csv with the columns x, repetition, y, panel and
series, into the directory it is given. The description of such a figure has live="…", the name of its
script here. The tests do not run these scripts. `make figures` does, and says so if it cannot.
"""

import dataclasses
import pathlib
import shutil
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parents[3]


@dataclasses.dataclass(frozen=True)
class Live:
    name: str
    what: str  # is measured
    script: str  # relative to the root
    arguments: Callable[[pathlib.Path, pathlib.Path, str], list[str]]  # build, directory, scale
    programs: tuple[str, ...] = ()  # which must be installed
    seconds: int = 120  # about, at reduced scale


LIVE = [
    Live("once", "counters on a cluster with faults", "scripts/measure-once",
         lambda build, directory, scale: ["redis-server", str(build / "bloomery.so"), str(directory),
                                          scale],
         programs=("redis-server",), seconds=130),
]


def why_skipped(live):
    """Why a part cannot be measured here, or an empty text."""
    if not (ROOT / live.script).exists():
        return f"there is no {live.script}"
    missing = [program for program in live.programs if not shutil.which(program)]
    return f"{', '.join(missing)} is not installed" if missing else ""
