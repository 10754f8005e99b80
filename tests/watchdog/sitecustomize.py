"""Python reads this before a test of it begins (PYTHONPATH, see Makefile): a test that hangs says
where before ctest ends it."""

import faulthandler
import os

if "BLOOMERY_WATCHDOG" in os.environ:
    faulthandler.dump_traceback_later(int(os.environ["BLOOMERY_WATCHDOG"]))
