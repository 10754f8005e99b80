"""module_exports_test.py MODULE: a server may load many modules, so ours exports one name only."""

import subprocess
import sys

listing = subprocess.run(["nm", "-D", "--defined-only", sys.argv[1]], check=True,
                         capture_output=True, text=True).stdout
names = [line.split()[-1] for line in listing.splitlines()]
if names != ["RedisModule_OnLoad"]:
    sys.exit(f"{sys.argv[1]} exports {names}")
