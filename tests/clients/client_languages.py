"""What the tests of clients share: which language to try, and how its programs are run.

They are called as

    PROGRAM SERVER MODULE PRELOAD LANGUAGE DIR

PRELOAD may be empty. DIR has the programs, for Node the packages (scripts/npm-packages). If the
language is not installed, the program prints that and exits with 77.
"""

import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "module"))
import server_runner  # noqa: E402

EXAMPLES = TESTS.parent / "examples" / "clients"
LANGUAGE, DIR = sys.argv[4], pathlib.Path(sys.argv[5])


def what_is_missing():
    """None, or why this language cannot be tested."""
    if LANGUAGE == "c" and not DIR.is_dir():
        return "the clients in C were not built: hiredis or SQLite is missing"
    if LANGUAGE == "python" and not importlib.util.find_spec("redis"):
        return "this Python has no module redis (Debian: python3-redis)"
    if LANGUAGE == "node" and not shutil.which("node"):
        return "there is no node"
    if LANGUAGE == "node" and not (DIR / "node_modules" / "installed").exists():
        return f"no npm packages; scripts/npm-packages {DIR} installs them"
    return None


def run(source, *arguments):
    """Runs an example by its name without suffix, or a file of Node; returns the completed
    process."""
    arguments = [str(argument) for argument in arguments]
    if LANGUAGE == "c":
        return finished([DIR / source, *arguments])
    if LANGUAGE == "python":
        return finished([sys.executable, "-B", EXAMPLES / "python" / f"{source}.py", *arguments])
    path = EXAMPLES / "node" / f"{source}.mjs" if isinstance(source, str) else source
    # Node searches for packages in the directories above a program.
    with tempfile.TemporaryDirectory(dir=DIR) as directory:
        return finished(["node", shutil.copy(path, directory), *arguments])


def finished(command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=server_runner.PATIENCE)


def main():
    missing = what_is_missing()
    if missing:
        print(f"skipped: {missing}")
        sys.exit(server_runner.SKIPPED)
    server_runner.main()
