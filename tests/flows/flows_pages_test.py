"""The tables of states in doc/flows.md are those of the program: flows_pages_test.py PROGRAM PAGE"""

import pathlib
import subprocess
import sys

program, page = sys.argv[1:]
text = pathlib.Path(page).read_text(encoding="utf-8")
for arguments in ([], ["directed"]):
    table = subprocess.run([program, *arguments], check=True, capture_output=True,
                           encoding="utf-8").stdout
    if table not in text:
        sys.exit(f"{page} lacks this table:\n{table}")
