"""What `make bench` measures, in this order. Each step is a command that prints JSON."""

import dataclasses
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNAVAILABLE = 77  # the exit code of a script whose peer is not there


class StepFailed(Exception):
    pass


class StepUnavailable(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Step:
    name: str
    title: str
    command: list
    seconds: float  # about, on two cores of 2024
    needs: str = ""  # a program, from the Debian package of the same name


def steps(build, small, trees=None):
    """All steps, with the programs in this directory; small: a second each instead of minutes."""
    bench = [build / "bloomery-bench"]

    def case(name, title, seconds, usual, tiny, needs=""):
        return Step(name, title, bench + [name, "--json"] + (tiny if small else usual).split(),
                    seconds, needs)

    script = [sys.executable, "-B"]
    dedup = script + [ROOT / "scripts/bench-dedup", build / "bloomery", build / "dedup"]
    server = script + [ROOT / "scripts/bench-server", build / "bloomery.so", "--json"]
    return [
        case("filters", "filters beside libbloom", 130, "--capacity 10M --rounds 3",
             "--capacity 2k --rounds 1"),
        case("maplet", "the table inside maps beside an exact hash table", 20,
             "--capacity 2M --compare --rounds 5", "--capacity 2k --compare --rounds 1"),
        case("maps", "engines of the map", 65, "--capacity 2M --rounds 5", "--capacity 2k --rounds 1"),
        case("memcached", "maps beside memcached", 40, "--capacity 500k --rounds 3",
             "--capacity 2k --rounds 1", needs="memcached"),
        case("indexes", "indexes beside an exact hash table", 130,
             "--unit-capacity 31250 --rounds 1", "--unit-capacity 20 --rounds 1"),
        case("windows", "windows beside exact ones", 65, "--capacity 1M --rounds 3",
             "--capacity 2k --rounds 1"),
        case("seen", "lines beside awk and sort", 130, "--capacity 10M --rounds 2",
             "--capacity 2k --rounds 1"),
        case("flows", "flows beside softflowd", 30, "--packets 4M", "--packets 3k"),
        Step("server", "the server's own commands and the module's",
             server + (["--capacity", "2000", "--rounds", "1"] if small else []), 60),
        Step("dedup", "backups beside borg",
             dedup + (["--trees", trees] if trees else ["--large"]), 70),
    ]


def run(step):
    """The JSON that the step prints."""
    if step.needs and not shutil.which(step.needs):
        raise StepUnavailable(f"{step.needs} is not installed (Debian: {step.needs})")
    done = subprocess.run([str(word) for word in step.command], capture_output=True, text=True,
                          check=False, stdin=subprocess.DEVNULL)
    last = (done.stderr.strip().splitlines() or ["it printed no message"])[-1]
    if done.returncode == UNAVAILABLE:
        raise StepUnavailable(last)
    if done.returncode:
        raise StepFailed(f"{step.title}: ended with code {done.returncode}: {last}")
    try:
        return json.loads(done.stdout)
    except ValueError as failed:
        raise StepFailed(f"{step.title}: printed no JSON: {failed}") from failed
