"""Kills `bloomery count` at random moments, and repeats what was killed: totals must be exact.

    count_kill.py PROGRAM KILLS [SEED]

Operation i has the id i, one of 37 names and an amount. A batch of operations, with repeats of
earlier ones, is counted by one run, from a file or from a pipe in pieces. If the run is killed, the
totals must be those of the batches before and of the first lines of this one, and the batch is sent
again. A batch whose run ended with status 0 is never sent again as a whole, so what it counted must
stay. The log is so small that most runs write snapshots.
"""

import collections
import os
import random
import subprocess
import sys
import tempfile
import time

PROGRAM, KILLS = sys.argv[1], int(sys.argv[2])
DRAW = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
NAMES = 37


def operation(i):
    return b"%d\tname %d\t%d\n" % (i, i % NAMES, amount(i))


def amount(i):
    return i * i % 1000 - 300


def add(totals, i):
    totals[b"name %d" % (i % NAMES)] += amount(i)


def read_totals(text):
    return {name: int(total) for name, total in (line.split(b"\t") for line in text.splitlines())}


def feed(process, text, may_stop):
    """Writes pieces of any length, which end within lines. May stop before the end."""
    at = 0
    try:
        while at < len(text):
            size = DRAW.choice((3, 40, 700, 9000, 70000))
            process.stdin.write(text[at:at + size])
            process.stdin.flush()
            at += size
            if may_stop and DRAW.random() < 0.1:
                return
            if DRAW.random() < 0.1:
                time.sleep(DRAW.random() * 0.001)
        process.stdin.close()
    except BrokenPipeError:
        pass


def run(directory, text, patience):
    """Counts, and kills the run after a random part of `patience` seconds. Its totals, or None."""
    table = os.path.join(directory, "table")
    size = DRAW.choice((2000, 20000, 200000))
    arguments = [PROGRAM, "count", table, "--log-size", str(size), "--capacity", "100k"]
    piped = DRAW.random() < 0.5
    if not piped:
        path = os.path.join(directory, "batch")
        with open(path, "wb") as file:
            file.write(text)
        arguments.append(path)
    process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    if piped:
        feed(process, text, patience > 0)
    if patience:
        time.sleep(DRAW.random() * patience)
        process.kill()
    if process.stdin.closed:
        process.stdin = None
    out, err = process.communicate()
    code = process.returncode
    if code not in (0, -9) or err:
        sys.exit(f"the run ended with {code}: {err.decode()}")
    return read_totals(out) if code == 0 else None


def check(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found} instead of {expected}")


def totals_now(directory):
    done = subprocess.run([PROGRAM, "count", os.path.join(directory, "table"), "--totals"],
                          capture_output=True, check=False)
    if done.returncode:
        if b"there is no table" in done.stderr:
            return {}
        sys.exit(f"--totals: {done.stderr.decode()}")
    return read_totals(done.stdout)


def prefixes(expected, new):
    """The totals after each number of the new operations."""
    totals = collections.Counter(expected)
    yield dict(totals)
    for i in new:
        add(totals, i)
        yield dict(totals)


def main():
    kills = whole = part = untouched = temporaries = snapshots = repeats = 0
    expected, end = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as directory:
        table = os.path.join(directory, "table")
        while kills < KILLS:
            new = range(end, end + DRAW.randrange(1, DRAW.choice((10, 1000, 20000))))
            old = DRAW.sample(range(end), min(end, DRAW.randrange(100)))
            text = b"".join(map(operation, [*old, *new, *new[:DRAW.randrange(50)]]))
            before = dict(expected)
            for i in new:
                add(expected, i)
            end = new.stop
            totals = None
            for attempt in range(8):
                totals = run(directory, text, (0.02 + len(text) * 6e-7) if kills < KILLS and attempt < 7 else 0)
                if totals is not None:
                    break
                kills += 1
                names = set(os.listdir(table)) if os.path.isdir(table) else set()
                temporaries += bool(names & {"log.new", "snapshot.tmp"})
                snapshots += "snapshot" in names
                found = totals_now(directory)
                states = list(prefixes(before, new))
                if found not in states:
                    sys.exit(f"after kill {kills}: no number of lines gives {found}")
                untouched += found == states[0]
                whole += found == states[-1]
                part += found not in (states[0], states[-1])
                repeats += 1
            check(f"after {end} operations", totals, dict(expected))
        check("at the end", totals_now(directory), dict(expected))
    print(f"{kills} kills: {untouched} before anything of the batch was counted, {part} within it, "
          f"{whole} after it; {temporaries} within a snapshot, {snapshots} with one there; "
          f"{repeats} batches sent again; {end} operations counted once")


if __name__ == "__main__":
    main()
