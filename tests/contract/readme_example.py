"""readme_example.py ROOT QUICKSTART BLOOMERY: the README shows examples/quickstart.c to the byte, and
what it says the program prints is what it prints: the plan to the letter, the rest, which is random,
but for the numbers; and so, to the letter, with examples/once_a_minute.sh."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile


def block(text, language):
    """The only code block of that language."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.M | re.S)
    if len(found) != 1:
        sys.exit(f"README.md has {len(found)} blocks of {language}, not one")
    return found[0]


def without_numbers(text):
    return re.sub(r"\d+(\.\d+)?", "#", text)


def check_script(root, readme, bloomery):
    script = pathlib.Path(root) / "examples" / "once_a_minute.sh"
    if block(readme, "bash") != script.read_text():
        sys.exit("README.md does not show examples/once_a_minute.sh as it is")
    path = os.path.dirname(bloomery) + ":" + os.environ["PATH"]
    run = subprocess.run([script], env={**os.environ, "PATH": path}, capture_output=True, text=True,
                         check=False)
    if (run.returncode, run.stderr) != (0, ""):
        sys.exit(f"once_a_minute.sh ended with {run.returncode}: {run.stderr}")
    if block(readme, "tsv") != run.stdout:
        sys.exit(f"README.md does not tell what once_a_minute.sh prints:\n{run.stdout}")


def main(root, program, bloomery):
    readme = (pathlib.Path(root) / "README.md").read_text()
    check_script(root, readme, bloomery)
    source = (pathlib.Path(root) / "examples" / "quickstart.c").read_text()
    if block(readme, "c") != source:
        sys.exit("README.md does not show examples/quickstart.c as it is")
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([program], cwd=folder, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            sys.exit(f"quickstart ended with {run.returncode}: {run.stderr}")
        if list(pathlib.Path(folder).iterdir()):
            sys.exit("quickstart left a file behind")
    if without_numbers(block(readme, "text")) != without_numbers(run.stdout):
        sys.exit(f"README.md does not tell what quickstart prints:\n{run.stdout}")
    if block(readme, "text").splitlines()[0] != run.stdout.splitlines()[0]:
        sys.exit(f"README.md does not tell what quickstart plans:\n{run.stdout}")
    if not re.search(r"found: +1000000 of them", run.stdout):
        sys.exit(f"quickstart lost keys:\n{run.stdout}")


if __name__ == "__main__":
    main(*sys.argv[1:])
