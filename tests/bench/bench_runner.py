"""Runs bloomery-bench and compares its output, as cli_runner does for bloomery."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))

from cli_runner import Case, PROGRAM, load, main, run  # noqa: E402,F401 (for the others here)
from cli_runner import ORACLE as BLOOMERY  # noqa: E402,F401
