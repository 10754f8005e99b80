"""Runs bloomery-bench and compares its output, as cli_runner does for bloomery."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))

from cli_runner import ORACLE as BLOOMERY  # noqa: E402
from cli_runner import Case, PROGRAM, load, main, run  # noqa: E402

__all__ = ["BLOOMERY", "BenchCase", "Case", "PROGRAM", "load", "main", "run", "times"]


def times(phases):
    """The names of their times: the median, and the minimum."""
    return [f"ns_{phase}{end}" for phase in phases for end in ("", "_min")]


class BenchCase(Case):
    def check_times(self, values, phases, missing=()):
        for phase in phases:
            if phase in missing:
                self.assertIsNone(values[f"ns_{phase}"])
            else:
                self.assertTrue(0 < values[f"ns_{phase}_min"] <= values[f"ns_{phase}"], phase)
