"""readme_example.py ROOT QUICKSTART: the README shows examples/quickstart.c to the byte, and what the
program prints."""

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


def main(root, program):
    readme = (pathlib.Path(root) / "README.md").read_text()
    source = (pathlib.Path(root) / "examples" / "quickstart.c").read_text()
    if block(readme, "c") != source:
        sys.exit("README.md does not show examples/quickstart.c as it is")
    with tempfile.TemporaryDirectory() as directory:
        run = subprocess.run([program], cwd=directory, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            sys.exit(f"quickstart ended with {run.returncode}: {run.stderr}")
        if list(pathlib.Path(directory).iterdir()):
            sys.exit("quickstart left a file behind")
    if not run.stdout or any(f"`{line}`" not in readme for line in run.stdout.splitlines()):
        sys.exit(f"README.md does not show what quickstart prints:\n{run.stdout}")


if __name__ == "__main__":
    main(*sys.argv[1:])
