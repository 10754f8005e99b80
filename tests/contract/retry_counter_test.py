"""retry_counter_test.py PROGRAM: counts each report once, over retries and over two processes."""

import subprocess
import sys
import tempfile


def run(program, directory, text):
    done = subprocess.run([program, "counters"], cwd=directory, input=text, capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"ended with {done.returncode}: {done.stderr}")
    return done.stdout.splitlines()


def expect(got, wanted):
    if got != wanted:
        sys.exit("got\n  " + "\n  ".join(got) + "\ninstead of\n  " + "\n  ".join(wanted))


def main(program):
    with tempfile.TemporaryDirectory() as directory:
        lines = run(program, directory, "ann 1 hits 5\nann 2 hits -2\nann 1 hits 5\nbob 1 hits\n"
                    f"bob 2 big {2 ** 63 - 1}\nbob 3 big 1\nbob 4 hits x\n")
        expect(lines[:7], ["ok hits 5", "ok hits 3", "ok hits 3 repeat", "malformed",
                           f"ok big {2 ** 63 - 1}", "overflow", "malformed"])
        expect(sorted(lines[7:9]), [f"big\t{2 ** 63 - 1}", "hits\t3"])
        expect(lines[9:], [line for line in lines[9:] if line.startswith("# 3 applied, 1 repeats")])
        # The next process knows the reports of the first one.
        lines = run(program, directory, "ann 2 hits -2\nann 3 hits 1\nbob 3 big -1\n")
        expect(lines[:3], ["ok hits 3 repeat", "ok hits 4", f"ok big {2 ** 63 - 2}"])


if __name__ == "__main__":
    main(*sys.argv[1:])
